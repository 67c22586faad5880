"""The catalogue: what `--model` may name, and what is said when it names nothing."""

import ast
import itertools
from pathlib import Path

import pytest

from backend.buckets import DynamicResolution
from backend.catalog import ROWS, ModelSpec, get_model, lookup, spec
from backend.catalog.example_images import EXAMPLE_IMAGE_URLS
from backend.catalog.lookup import model_path
from backend.catalog.prompt_style import ExplicitPrompt, numbered
from backend.errors import ModelError
from backend.settings import repository


def refusal(name: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        get_model(name)
    return caught.value


def test_keys_and_labels_are_unique() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS)
    assert len({row.label for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_is_found_by_key_and_by_id(row: ModelSpec) -> None:
    assert get_model(row.key) == row
    assert get_model(row.hf_id) == row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_prompt_has_a_place_for_the_question_and_for_every_image(row: ModelSpec) -> None:
    images = ["a.png", "b.png", "c.png"]
    if isinstance(row.prompt, ExplicitPrompt):
        text = row.prompt.write("Why?", 3)
    else:
        content = row.prompt.messages("Why?", images)[-1]["content"]
        parts = [part for part in content if isinstance(part, dict)]
        if parts:
            assert [p["image"] for p in parts if p["type"] == "image"] == images
            assert parts[-1] == {"type": "text", "text": "Why?"}
            return
        text = content
    assert text.count("Why?") == 1
    places = [numbered(row.image_token, number) for number in (1, 2, 3)]
    assert [text.count(place) for place in places] == [1 if "{i}" in row.image_token else 3] * 3


def test_the_qaic_table_is_complete() -> None:
    modes = {row.hf_id: row.qaic_modes for row in ROWS if "qaic" in row.origins}
    assert modes == {
        "google/gemma-3-4b-it": ("aot",),
        "OpenGVLab/InternVL2_5-1B": ("aot",),
        "llava-hf/llava-1.5-7b-hf": ("aot",),
        "Qwen/Qwen2.5-VL-7B-Instruct": ("aot", "eager"),
        "Qwen/Qwen2.5-VL-32B-Instruct": ("aot", "eager"),
        "Qwen/Qwen3-VL-32B-Instruct": ("aot", "eager"),
        "OpenGVLab/InternVL3_5-8B-Instruct": ("eager",),
    }
    assert not any(row.qaic_modes for row in ROWS if "qaic" not in row.origins)


def test_an_id_of_both_documents_is_one_row() -> None:
    both = {row.key: row.hf_id for row in ROWS if set(row.origins) == {"qaic", "vllm"}}
    assert both == {"gemma3": "google/gemma-3-4b-it", "llava": "llava-hf/llava-1.5-7b-hf"}


def test_families_that_upstream_dropped() -> None:
    assert {row.key: row.last_vllm for row in ROWS if row.last_vllm} == {
        "qwen_vl_chat": "0.23.0",
        "tarsier2": "0.23.0",
        "tarsier": "0.24.0",
        "aya_vision": "0.24.0",
        "hyperclovax_seed_vision": "0.28.0",
    }


def test_families_without_halves() -> None:
    fused = {row.key for row in ROWS if not row.split and not row.last_vllm}
    assert fused == {"deepseek_vl_v2", "h2ovl_chat", "hunyuan_vl", "phi4_mm"}


def test_the_examples_pictures() -> None:
    assert len(set(EXAMPLE_IMAGE_URLS)) == 12
    assert [url.rpartition("/")[2] for url in EXAMPLE_IMAGE_URLS[:3]] == [
        "duck.jpg",
        "lion.jpg",
        "flycatcher.jpeg",
    ]


def test_every_field_is_explained() -> None:
    """A field without a docstring is one that the next row gets wrong."""
    tree = ast.parse(Path(spec.__file__).read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for field, after in itertools.pairwise(node.body):
                if isinstance(field, ast.AnnAssign):
                    assert isinstance(after, ast.Expr), ast.unparse(field.target)
                    assert isinstance(after.value, ast.Constant), ast.unparse(field.target)


def test_no_model_is_named_outside_the_rows() -> None:
    """A family is one row of data: code that knows one by name is a bug."""
    names = {row.key for row in ROWS} | {row.hf_id for row in ROWS}
    names -= {"bifocal-demo", "assets/demo_model"}  # the default of a setting, and a folder
    for path in [*repository().glob("backend/**/*.py"), *repository().glob("ui/**/*.py")]:
        if path.parent.name == "catalog" and path.name.startswith("rows_"):
            continue
        strings = {
            node.value
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        assert not names & strings, path.name


def test_qwen3_cuts_at_32_pixels() -> None:
    assert get_model("Qwen/Qwen3-VL-32B-Instruct").resolution == DynamicResolution(16, 2)
    assert get_model("bifocal-demo").resolution == DynamicResolution(14, 2)


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    error = refusal("bifocal-dmeo")
    assert (error.code, error.exit_status) == ("unknown_model", 2)
    assert "bifocal-dmeo" in error.message
    assert "bifocal-demo" in error.message


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_slip_in_any_key_is_answered_with_it(row: ModelSpec) -> None:
    name = row.key.replace("/", "") + "x"
    error = refusal(name)
    assert error.code == "unknown_model"
    assert row.key in error.message


def test_the_bundled_model_is_a_folder_of_the_repository() -> None:
    assert model_path(get_model("bifocal-demo")) == str(repository() / "assets" / "demo_model")


def test_other_models_are_left_to_the_hub() -> None:
    spec = get_model("Qwen/Qwen2.5-VL-7B-Instruct")
    assert model_path(spec) == "Qwen/Qwen2.5-VL-7B-Instruct"


def test_missing_bundled_files_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "repository", lambda: tmp_path)
    with pytest.raises(ModelError) as caught:
        model_path(get_model("bifocal-demo"))
    assert caught.value.code == "model_unavailable"
    assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize("name", ["x" * 300, "a/" + "b" * 300, "nul\0", ""])
def test_a_name_that_no_folder_can_have_is_unknown(name: str) -> None:
    with pytest.raises(ModelError) as caught:
        get_model(name)
    assert caught.value.code == "unknown_model"
    assert len(caught.value.message) < 3000
