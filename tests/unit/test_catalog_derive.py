"""Rows derived for models that the catalogue does not have: a folder, or an id."""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.buckets import DynamicResolution
from backend.catalog import ModelSpec, get_model, hub, lookup
from backend.catalog.lookup import model_path
from backend.catalog.prompt_style import ExplicitPrompt, PartsMessage
from backend.errors import ModelError

QWEN2_5 = "Qwen2_5_VLForConditionalGeneration"
LLAVA = "LlavaForConditionalGeneration"


def refusal(name: str) -> ModelError:
    with pytest.raises(ModelError) as caught:
        get_model(name)
    return caught.value


def folder_with(folder: Path, config: object, **files: object) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name, value in files.items():
        (folder / f"{name}.json").write_text(json.dumps(value))
    return str(folder)


def derived(folder: Path, config: object, **files: object) -> ModelSpec:
    return get_model(folder_with(folder / "mine", config, **files))


def test_a_folder_takes_the_row_of_its_architecture_and_its_own_limits(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    config = {"architectures": [QWEN2_5], "text_config": {"max_position_embeddings": 2048}}
    spec = get_model(folder_with(folder, config))
    assert (spec.key, spec.label, spec.ctx_len) == (str(folder), "mine", 2048)
    assert spec.resolution == DynamicResolution(14, 2)
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


def test_a_folder_uses_its_own_chat_template(tmp_path: Path) -> None:
    """Its family's explicit prompt is that of another model."""
    config = {"architectures": [QWEN2_5]}
    assert isinstance(derived(tmp_path, config).prompt, ExplicitPrompt)
    (tmp_path / "mine" / "chat_template.jinja").write_text("{{ messages }}")
    spec = get_model(str(tmp_path / "mine"))
    assert (spec.prompt, spec.method) == (PartsMessage(), "chat")


def test_a_folder_says_whose_row_it_takes(tmp_path: Path) -> None:
    spec = derived(tmp_path, {"architectures": [LLAVA]})
    assert "mine is not in the catalogue" in spec.note
    assert "LLaVA 1.5 7B" in spec.note


@pytest.mark.parametrize(("token", "key"), [("<image>", "llava"), ("[IMG]", "pixtral_hf")])
def test_of_rows_with_one_architecture_the_tokenizer_decides(
    tmp_path: Path, token: str, key: str
) -> None:
    """LLaVA and Pixtral share a class, but not the token that stands for an image."""
    tokens = {"added_tokens_decoder": {"5": {"content": token}}}
    spec = derived(tmp_path, {"architectures": [LLAVA]}, tokenizer_config=tokens)
    assert spec.image_token == get_model(key).image_token == token


def test_patches_are_the_models_own(tmp_path: Path) -> None:
    vision = {"patch_size": 16, "spatial_merge_size": 4}
    spec = derived(tmp_path, {"architectures": [QWEN2_5], "vision_config": vision})
    assert spec.resolution == DynamicResolution(16, 4)


def test_sizes_of_other_families_are_not_taken_over(tmp_path: Path) -> None:
    """Another LLaVA may look at 384 pixels, where the catalogue's looks at 336."""
    assert derived(tmp_path, {"architectures": [LLAVA]}).resolution is None


STRANGER: dict[str, Any] = {
    "architectures": ["Blip9ForConditionalGeneration"],
    "vision_config": {},
    "text_config": {"max_position_embeddings": 777},
    "image_token_id": 9,
}


def test_an_architecture_without_a_row_runs_fused(tmp_path: Path) -> None:
    tokens = {"added_tokens_decoder": {"9": {"content": "<pic>"}}, "chat_template": "{{ x }}"}
    spec = derived(tmp_path, STRANGER, tokenizer_config=tokens)
    assert (spec.architecture, spec.split) == ("Blip9ForConditionalGeneration", False)
    assert (spec.image_token, spec.ctx_len, spec.method) == ("<pic>", 777, "chat")
    assert (spec.prompt, spec.remote_code) == (PartsMessage(), False)
    assert "config and chat template" in spec.note


def test_internvl_of_transformers_splits(tmp_path: Path) -> None:
    config = {**STRANGER, "architectures": ["InternVLForConditionalGeneration"]}
    spec = derived(tmp_path, config, processor_config={"image_token": "<IMG_CONTEXT>"})
    assert (spec.split, spec.image_token) == (True, "<IMG_CONTEXT>")


def test_a_stranger_without_a_chat_template_is_asked_plainly(tmp_path: Path) -> None:
    config = {**STRANGER, "auto_map": {"AutoConfig": "x.y"}}
    tokens = {"added_tokens": [{"id": 9, "content": "<pic>"}]}
    spec = derived(tmp_path, config, tokenizer=tokens)
    assert isinstance(spec.prompt, ExplicitPrompt)
    assert spec.prompt.write("Why?", 2) == "<pic><pic>\nWhy?\n"
    assert (spec.method, spec.remote_code) == ("generate", True)


def test_the_processors_word_for_an_image_counts_first(tmp_path: Path) -> None:
    spec = derived(tmp_path, STRANGER, processor_config={"image_token": "<photo>"})
    assert spec.image_token == "<photo>"


def test_a_stranger_whose_files_name_no_image_token(tmp_path: Path) -> None:
    error = refusal(folder_with(tmp_path, STRANGER))
    assert error.code == "unknown_model"
    assert "Blip9ForConditionalGeneration" in error.message


def test_an_id_whose_config_is_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(folder_with(tmp_path / "snapshot", {"architectures": [QWEN2_5]}))
    monkeypatch.setattr(lookup, "config_folder", lambda hf_id: folder)
    spec = get_model("someone/their-model")
    assert (spec.key, spec.label) == ("someone/their-model", "someone/their-model")
    assert model_path(spec) == "someone/their-model"
    assert "someone/their-model is not in the catalogue" in spec.note


def test_an_id_that_cannot_be_had_is_answered_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(self: object, hf_id: str, timeout: float) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr("huggingface_hub.HfApi.model_info", unreachable)
    error = refusal("Qwen/Qwen2.5-VL-8B-Instruct")
    assert error.code == "unknown_model"
    assert "does not answer" in error.message
    assert "Qwen/Qwen2.5-VL-7B-Instruct" in error.message


def test_an_id_without_a_config(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    files = SimpleNamespace(siblings=[SimpleNamespace(rfilename="model.gguf")])
    monkeypatch.setattr("huggingface_hub.HfApi.model_info", lambda *_, **__: files)
    with pytest.raises(ModelError, match=r"has no config\.json"):
        hub.config_folder("someone/quantized")


def test_a_folder_is_no_id(tmp_path: Path) -> None:
    """`./models/mine` is not asked for on the Hub where it does not exist."""
    assert "There is no model" in refusal("./models/mine").message


def test_only_a_model_with_code_of_its_own_needs_trust(tmp_path: Path) -> None:
    """A family's row may: its published model has code that transformers has by now."""
    config = {"architectures": ["AriaForConditionalGeneration"], "vision_config": {}}
    assert get_model("aria").remote_code
    assert not derived(tmp_path, config).remote_code
    code = {"auto_map": {"AutoProcessor": "processing.Processor"}}
    for name in ("tokenizer_config", "processor_config", "preprocessor_config"):
        assert derived(tmp_path / name, config, **{name: code}).remote_code
    assert derived(tmp_path / "config", {**config, **code}).remote_code


def test_stop_tokens_that_the_model_does_not_have_are_left_out(tmp_path: Path) -> None:
    config = {"architectures": ["AriaForConditionalGeneration"], "vision_config": {}}
    text = {"text_config": {"vocab_size": 2000}}
    assert derived(tmp_path / "small", {**config, **text}).stop_token_ids == (944, 1019)
    published = get_model("aria").stop_token_ids
    assert derived(tmp_path / "unsaid", config).stop_token_ids == published
