"""The command line: flags and their errors, read in this process."""

import argparse
import json
import shlex
import socket
from pathlib import Path
from typing import Any

import pytest

from backend.errors import EngineError, InputError, SettingError
from backend.settings import Settings, flag, read_settings
from ui.command_line import ask
from ui.command_line.engine_args import serve_line
from ui.command_line.output import asks_for_json
from ui.command_line.parser import build_parser, setting_flags
from ui.command_line.remote_app import _as_ours
from ui.command_line.serve import listen

from .pictures import quarters, saved


def parse(*words: str) -> argparse.Namespace:
    parsed: argparse.Namespace = build_parser().parse_args(words)
    return parsed


def refusal(*words: str) -> str:
    with pytest.raises(SettingError) as caught:
        parse(*words)
    assert caught.value.code == "bad_setting"
    return caught.value.message


VALUES = {
    "target": "cpu",
    "topology": "fused",
    "qaic_mode": "eager",
    "fit": "pad",
    "heights": "364,512",
    "widths": "532,910",
    "vision_devices": "2,3",
    "language_devices": "4",
    "allow_ports": "80,8080",
    "auth": "ann:one",
    "model": "qwen2_5_vl",
    "host": "0.0.0.0",
    "quantization": "fp8",
    "kv_cache_dtype": "fp8",
    "dtype": "bfloat16",
    "load_format": "dummy",
}


@pytest.mark.parametrize("command", ["", "serve", "ask", "buckets", "engine-args"])
def test_every_setting_is_a_flag_of_every_command(command: str) -> None:
    words = [command] if command else []
    for name, field in Settings.model_fields.items():
        words += [flag(name)] if field.annotation is bool else [flag(name), VALUES.get(name, "7")]
    given = setting_flags(parse(*words, *(["cat.png"] if command == "buckets" else [])))
    assert set(given) == set(Settings.model_fields)
    settings = read_settings(given)
    assert settings.heights == (364, 512)
    assert settings.vision_devices == (2, 3)
    assert (settings.ctx_len, settings.fit, settings.trust_remote_code) == (7, "pad", True)


def test_a_secret_is_no_flag() -> None:
    """Flags are seen by everyone on the machine."""
    assert "--hf-token is not" in refusal("--hf-token", "geheim")


def test_flags_may_stand_before_and_behind_the_command() -> None:
    given = setting_flags(parse("--port", "1", "ask", "--seed", "2"))
    assert (given["port"], given["seed"]) == ("1", "2")


def test_absent_flags_are_left_to_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_PORT", "1001")
    assert setting_flags(parse("serve")) == {}
    assert read_settings(setting_flags(parse("serve"))).port == 1001


def test_a_switch_can_be_turned_off_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_LOG_PROMPTS", "1")
    assert not read_settings(setting_flags(parse("--no-log-prompts"))).log_prompts


def test_auth_is_repeatable() -> None:
    given = setting_flags(parse("--auth", "ann:one", "--auth", "bob:two"))
    assert read_settings(given).auth == ("ann:one", "bob:two")


def test_ask_has_the_contracts_defaults() -> None:
    arguments = parse("ask")
    assert arguments.prompt == "What is the content of each image?"
    sampling = ask._request(arguments, read_settings(), ()).sampling
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p) == (256, 0, 1)
    assert (arguments.system_prompt, arguments.method, arguments.server) == ("", None, None)
    assert (arguments.image, arguments.num_images, arguments.json) == ([], None, False)


def test_everything_that_ask_takes() -> None:
    arguments = parse(
        "ask", "--image", "a.png", "--image", "http://b/c.png", "--prompt", "Why?",
        "--system-prompt", "Be brief.", "--method", "generate", "--max-tokens", "9",
        "--temperature", "0.5", "--top-p", "0.9", "--seed", "3", "--json",
    )  # fmt: skip
    request = ask._request(
        arguments, read_settings(setting_flags(arguments)), ask.chosen_images(arguments)
    )
    system, question = request.turns
    assert (system.role, system.text) == ("system", "Be brief.")
    assert (question.role, question.text) == ("user", "Why?")
    assert [(i.location, i.origin) for i in question.images] == [
        ("a.png", "path"),
        ("http://b/c.png", "url"),
    ]
    assert request.method == "generate"
    sampling = request.sampling
    assert (sampling.max_tokens, sampling.temperature) == (9, 0.5)
    assert (sampling.top_p, sampling.seed) == (0.9, 3)


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--hieghts", "364"], ["--hieghts", "--heights"]),
        (["ask", "--promt", "x"], ["--promt", "--prompt"]),
        (["ask", "--prom", "x"], ["--prom", "--prompt"]),
        (["ask", "--max-tokens", "many"], ["--max-tokens", "many"]),
        (["ask", "--method", "guess"], ["--method", "chat", "generate"]),
        (["ask", "stray"], ["stray"]),
        (["buckets"], ["IMAGE"]),
        (["bukets", "cat.png"], ["bukets", "buckets"]),
        (["--port"], ["--port"]),
        (["engine-args", "--jsno"], ["--jsno", "--json"]),
    ],
)
def test_wrong_usage_names_the_word_and_the_nearest_right_one(
    words: list[str], shown: list[str]
) -> None:
    """Abbreviations are wrong too: a script's `--prom` would change meaning with a new flag."""
    message = refusal(*words)
    for word in shown:
        assert word in message


def test_a_misspelt_flag_does_not_show_its_value() -> None:
    assert "geheim" not in refusal("--auht=ann:geheim")


@pytest.fixture
def examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with three bundled examples."""
    folder = tmp_path / "assets" / "examples"
    folder.mkdir(parents=True)
    entries = [
        {"file": f"{name}.png", "title": name, "question": "What?"} for name in ("b", "a", "c")
    ]
    for entry in entries:
        (folder / entry["file"]).write_bytes(saved(quarters()))
    (folder / "index.json").write_text(json.dumps(entries))
    monkeypatch.setattr(ask, "repository", lambda: tmp_path)
    return folder


def images(*words: str) -> list[str]:
    return [Path(image.location).name for image in ask.chosen_images(parse("ask", *words))]


def test_the_first_examples_in_the_indexs_order(examples: Path) -> None:
    assert images("--num-images", "2") == ["b.png", "a.png"]
    assert images("--num-images", "3") == ["b.png", "a.png", "c.png"]
    assert images("--num-images", "0") == []
    assert images() == []


def test_more_examples_than_there_are(examples: Path) -> None:
    with pytest.raises(InputError) as caught:
        images("--num-images", "4")
    assert caught.value.code == "too_many_images"
    assert "3 bundled examples" in caught.value.message


def test_fewer_examples_than_none(examples: Path) -> None:
    with pytest.raises(SettingError, match="--num-images"):
        images("--num-images", "-1")


@pytest.mark.parametrize("count", ["0", "1"])
def test_examples_and_images_exclude_each_other(examples: Path, count: str) -> None:
    with pytest.raises(SettingError, match="--num-images"):
        images("--image", "a.png", "--num-images", count)


def test_a_serve_line_is_one_command_for_a_shell() -> None:
    args: dict[str, Any] = {
        "model": "some/model",
        "max_model_len": 4096,
        "async_scheduling": False,
        "enforce_eager": True,
        "quantization": None,
        "additional_config": {"device_group": [0], "note": "it's"},
        "ignore_patterns": ["a.bin", "b *"],
    }
    assert shlex.split(serve_line(args)) == [
        "vllm", "serve", "some/model", "--max-model-len", "4096", "--no-async-scheduling",
        "--enforce-eager", "--additional-config", '{"device_group": [0], "note": "it\'s"}',
        "--ignore-patterns", "a.bin", "b *",
    ]  # fmt: skip


def test_an_apps_error_keeps_its_code() -> None:
    error = _as_ours("image_too_large: cat.png is larger than 20 MB.")
    assert isinstance(error, InputError)
    assert (error.code, error.message) == ("image_too_large", "cat.png is larger than 20 MB.")
    other = _as_ours("Something else: it broke")
    assert isinstance(other, EngineError)
    assert "it broke" in other.message


def test_a_port_in_use_names_the_flag() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SettingError) as caught:
            listen("127.0.0.1", port)
    assert str(port) in caught.value.message
    assert "--port" in caught.value.message


def test_an_address_of_another_machine_cannot_be_listened_on() -> None:
    with pytest.raises(SettingError, match="--host"):
        listen("192.0.2.1", 0)


def test_port_0_picks_a_free_one() -> None:
    with listen("127.0.0.1", 0) as listening:
        assert listening.getsockname()[1] > 0
        with socket.create_connection(listening.getsockname(), timeout=5):
            pass


def test_the_longest_answer_is_the_rows_unless_a_person_says_so() -> None:
    for words, expected in (([], 8192), (["--max-tokens", "9"], 9)):
        arguments = parse("ask", "--model", "deepseek_ocr", *words)
        settings = read_settings(setting_flags(arguments))
        assert ask._request(arguments, settings, ()).sampling.max_tokens == expected


@pytest.mark.parametrize(
    ("words", "as_json"),
    [
        (["buckets", "a.png", "--json"], True),
        (["buckets", "--json", "--", "a.png"], True),
        (["buckets", "--", "--json"], False),
        (["buckets", "a.png", "--", "--json"], False),
        (["--", "--json"], False),
    ],
)
def test_flags_end_at_two_dashes(words: list[str], as_json: bool) -> None:
    """`buckets -- --json` answered as JSON about the file `--json`."""
    assert asks_for_json(words) is as_json


@pytest.mark.parametrize(
    ("words", "images"),
    [
        (["--", "--json"], ["--json"]),
        (["a", "--", "-x"], ["a", "-x"]),
        (["--", "--", "b"], ["--", "b"]),
    ],
)
def test_after_two_dashes_everything_is_a_picture(words: list[str], images: list[str]) -> None:
    arguments = parse("buckets", *words)
    assert (arguments.images, arguments.json) == (images, False)


def test_an_empty_word_too_many_is_refused_like_any_other() -> None:
    assert "is not something this command takes" in refusal("buckets", "a.png", "--json", "")
