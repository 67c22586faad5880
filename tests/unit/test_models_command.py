"""`models` and `request`: what they print, without an engine."""

import io
import json
from typing import Any

import pytest

from backend.catalog import ROWS, get_model
from backend.engines import architectures
from backend.errors import ModelError, SettingError
from backend.settings import read_settings
from ui.command_line import models, request
from ui.command_line.output import Output
from ui.command_line.parser import build_parser, setting_flags

KNOWN = frozenset({"LlavaForConditionalGeneration", "Phi4MMForCausalLM"})


def printed(command: Any, *words: str) -> str:
    arguments = build_parser().parse_args(words)
    stream = io.StringIO()
    settings = read_settings(setting_flags(arguments))
    command.run(arguments, settings, Output(stream, arguments.json))
    return stream.getvalue()


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "known_architectures", lambda: KNOWN)
    monkeypatch.setattr(architectures, "known_architectures", lambda: KNOWN)


def test_models_as_json(known: None) -> None:
    entries = {entry["key"]: entry for entry in json.loads(printed(models, "models", "--json"))}
    assert list(entries) == [row.key for row in ROWS]
    assert entries["llava"] == {
        "key": "llava",
        "hf_id": "llava-hf/llava-1.5-7b-hf",
        "architecture": "LlavaForConditionalGeneration",
        "origins": ["qaic", "vllm"],
        "qaic_modes": ["aot"],
        "split": True,
        "max_images": 12,
        "remote_code": False,
        "method": "chat",
        "available": True,
        "removed_in": None,
    }
    assert entries["phi4_mm"]["split"] is False
    assert entries["phi4_mm"]["remote_code"] is True
    dropped = entries["tarsier"]
    assert (dropped["available"], dropped["removed_in"]) == (False, "0.24.0")
    assert entries["Qwen/Qwen3-VL-32B-Instruct"]["hf_id"] == "Qwen/Qwen3-VL-32B-Instruct"


def test_models_as_a_table(known: None) -> None:
    rows, legend = printed(models, "models").split("\n\n")
    lines = rows.splitlines()
    told = [line.split()[0] for line in legend.splitlines()]
    assert told == [name for name in models.COLUMNS if name not in ("id", "architecture")]
    assert len(lines) == 1 + len(ROWS)
    by_key = {line.split()[0]: line for line in lines}
    assert by_key["llava"].split()[1:] == [
        "llava-hf/llava-1.5-7b-hf", "LlavaForConditionalGeneration", "qaic+vllm", "aot", "split",
        "12", "-", "chat", "yes",
    ]  # fmt: skip
    assert by_key["tarsier"].endswith("dropped, last in 0.24.0")
    assert by_key["aria"].endswith("not in this version")
    assert not any(line != line.rstrip() for line in lines)


def test_an_architecture_that_vllm_dropped_is_refused_before_it_starts(known: None) -> None:
    architectures.refuse_unknown_architecture(get_model("llava"))
    with pytest.raises(ModelError) as caught:
        architectures.refuse_unknown_architecture(get_model("tarsier2"))
    assert caught.value.code == "model_unavailable"
    for word in ("Tarsier2ForConditionalGeneration", "0.23.0", "launch.py models"):
        assert word in caught.value.message


def test_request_as_json() -> None:
    found = json.loads(
        printed(request, "request", "-m", "aria", "--image", "a.png", "--prompt", "Why?",
                "--method", "generate", "--json")
    )  # fmt: skip
    assert list(found) == [
        "prompt", "messages", "template", "stop_tokens", "stop_token_ids", "sampling", "lora",
        "engine_args",
    ]  # fmt: skip
    assert found["prompt"] == (
        "<|im_start|>user\n<fim_prefix><|img|><fim_suffix>\nWhy?<|im_end|>\n<|im_start|>assistant\n"
    )
    assert found["engine_args"]["limit_mm_per_prompt"] == {"image": 1}


def test_request_in_words() -> None:
    text = printed(request, "request", "-m", "gemma3", "-n", "1")
    assert "written by the model's own chat template" in text
    assert 'template: "processor"' in text


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_every_row_can_be_asked_for_what_it_would_send(row: Any) -> None:
    """Without --trust-remote-code as well: nothing is run."""
    found = json.loads(printed(request, "request", "--model", row.key, "-n", "2", "--json"))
    assert found["engine_args"]["limit_mm_per_prompt"]["image"] == 2
    assert found["prompt"] or found["messages"]


def test_the_bundled_models_prompt_is_told_for_both_methods() -> None:
    for method in ("chat", "generate"):
        words = ["request", "--method", method, "--image", "a.png", "--prompt", "Why?", "--json"]
        assert json.loads(printed(request, *words))["prompt"] == (
            "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>Why?<|im_end|>\n"
            "<|im_start|>assistant\n"
        )


def test_the_examples_short_flags() -> None:
    for command in ("ask", "request"):
        arguments = build_parser().parse_args([command, "-m", "llava", "-n", "3", "-tp", "2"])
        settings = read_settings(setting_flags(arguments))
        assert (settings.model, settings.tensor_parallel_size) == ("llava", 2)
        assert arguments.num_images == 3


def test_a_short_flag_that_is_none() -> None:
    with pytest.raises(SettingError, match="-x"):
        build_parser().parse_args(["ask", "-x", "1"])
