"""The catalogue: what `--model` may name, and what is said when it names nothing."""

import json
from pathlib import Path

import pytest

from backend.catalog import ROWS, ModelSpec, get_model, lookup
from backend.catalog.lookup import model_path
from backend.errors import ModelError
from backend.settings import repository

QWEN2_5 = "Qwen2_5_VLForConditionalGeneration"


def refusal(name: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        get_model(name)
    return caught.value


def folder_with(folder: Path, config: object) -> str:
    (folder / "config.json").write_text(json.dumps(config))
    return str(folder)


def test_keys_and_labels_are_unique() -> None:
    assert len({row.key for row in ROWS}) == len(ROWS)
    assert len({row.label for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_row_is_found_by_key_and_by_id(row: ModelSpec) -> None:
    assert get_model(row.key) == row
    assert get_model(row.hf_id) == row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_the_explicit_template_has_its_two_places(row: ModelSpec) -> None:
    text = row.template.format(placeholders="<here>", question="Why?")
    assert text.index("<here>") < text.index("Why?")
    assert row.image_token in row.placeholder


def test_the_qaic_tables_models_are_there() -> None:
    qaic = {row.key for row in ROWS if "qaic" in row.origins}
    assert {
        "Qwen/Qwen2.5-VL-7B-Instruct",
        "Qwen/Qwen2.5-VL-32B-Instruct",
        "Qwen/Qwen3-VL-32B-Instruct",
    } <= qaic
    assert all(row.qaic_modes for row in ROWS if row.key in qaic)


def test_qwen3_cuts_at_32_pixels() -> None:
    assert get_model("Qwen/Qwen3-VL-32B-Instruct").resolution.factor == 32
    assert get_model("bifocal-demo").resolution.factor == 28


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    error = refusal("bifocal-dmeo")
    assert (error.code, error.exit_status) == ("unknown_model", 3)
    assert "bifocal-dmeo" in error.message
    assert "bifocal-demo" in error.message


def test_an_unknown_size_is_answered_with_the_sizes_there_are() -> None:
    assert "Qwen/Qwen2.5-VL-7B-Instruct" in refusal("Qwen/Qwen2.5-VL-8B-Instruct").message


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


def test_a_folder_takes_the_row_of_its_architecture_and_its_own_limits(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    config = {"architectures": [QWEN2_5], "text_config": {"max_position_embeddings": 2048}}
    spec = get_model(folder_with(folder, config))
    assert (spec.key, spec.label, spec.ctx_len) == (str(folder), "mine", 2048)
    assert spec.resolution.factor == 28
    assert (spec.origins, spec.bundled) == ((), False)
    assert model_path(spec) == str(folder)


def test_an_older_config_has_its_limits_at_the_top(tmp_path: Path) -> None:
    config = {"architectures": [QWEN2_5], "max_position_embeddings": 4096}
    assert get_model(folder_with(tmp_path, config)).ctx_len == 4096


@pytest.mark.parametrize("limit", [None, "many"])
def test_a_folder_without_a_usable_limit_has_the_rows(tmp_path: Path, limit: object) -> None:
    config = {"architectures": [QWEN2_5], "max_position_embeddings": limit}
    assert get_model(folder_with(tmp_path, config)).ctx_len == 16384


def test_a_folder_of_an_unknown_architecture_is_told_which_are_known(tmp_path: Path) -> None:
    error = refusal(folder_with(tmp_path, {"architectures": ["BertModel"]}))
    assert error.code == "unknown_model"
    assert "BertModel" in error.message
    assert QWEN2_5 in error.message
    assert str(tmp_path.parent) not in error.message


@pytest.mark.parametrize("text", ["", "not json", "[]", "null"])
def test_a_folder_that_holds_no_model(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.json").write_text(text)
    error = refusal(str(tmp_path))
    assert error.code == "model_unavailable"
    assert str(tmp_path.parent) not in error.message


def test_an_empty_folder_holds_no_model(tmp_path: Path) -> None:
    assert refusal(str(tmp_path)).code == "model_unavailable"
