"""`python launch.py` as a process: exit status, an answer alone on stdout, errors as objects."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.settings import repository

from .pictures import RED, saved


def launch(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(repository() / "launch.py"), *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, **environment},
    )


def error(result: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """The error object, alone on stdout."""
    answer: Any = json.loads(result.stdout)
    assert set(answer) == {"error"}
    assert set(answer["error"]) == {"code", "message"}
    assert "Traceback" not in result.stderr
    found: dict[str, str] = answer["error"]
    return found


def test_buckets_as_json(tmp_path: Path) -> None:
    (tmp_path / "tall.png").write_bytes(saved(Image.new("RGB", (364, 532), RED)))
    (tmp_path / "wide.png").write_bytes(saved(Image.new("RGB", (532, 364), RED)))
    result = launch("buckets", "tall.png", "wide.png", "--json")
    assert result.returncode == 0, result.stderr
    tall, wide = json.loads(result.stdout)
    assert (tall["source"], tall["width"], tall["height"]) == ("tall.png", 364, 532)
    assert tall["bucket"] == {
        "height": 728,
        "width": 1288,
        "compiled": [728, 1280],
        "tokens": 1196,
        "fit": "stretch",
        "aspect_change": 2.5858,
    }
    assert (tall["cached"], tall["notes"]) == (False, [])
    assert [candidate["chosen"] for candidate in tall["candidates"]] == [False, False, True]
    assert tall["candidates"][0] == {
        "height": 364,
        "width": 532,
        "compiled": [364, 532],
        "tokens": 247,
        "effective_pixels": 90636,
        "wasted_pixels": 103012,
        "chosen": False,
    }
    assert "728x1288" in tall["why"]
    assert (wide["bucket"]["height"], wide["bucket"]["aspect_change"]) == (364, 1.0)


def test_buckets_as_text(tmp_path: Path) -> None:
    (tmp_path / "wide.png").write_bytes(saved(Image.new("RGB", (532, 364), RED)))
    result = launch("buckets", "wide.png", "--fit", "pad")
    assert result.returncode == 0
    assert "wide.png: 364 x 532 pixels" in result.stdout
    assert "* 364x532 compiled, 364x532 snapped, 247 tokens" in result.stdout


def test_engine_args_of_qaic() -> None:
    result = launch("engine-args", "--target", "qaic", "--json")
    assert result.returncode == 0, result.stderr
    answer = json.loads(result.stdout)
    assert set(answer) == {"vision", "language"}
    assert answer["language"]["quantization"] == "mxfp6"


def test_engine_args_as_lines_for_a_shell() -> None:
    model = "Qwen/Qwen2.5-VL-7B-Instruct"
    result = launch("engine-args", "--target", "cpu", "--topology", "fused", "--model", model)
    assert result.returncode == 0, result.stderr
    heading, line = result.stdout.strip().splitlines()
    assert heading == "# fused"
    assert line.startswith(f"vllm serve {model} --max-model-len 32768 ")


@pytest.mark.parametrize(
    ("words", "status", "code", "shown"),
    [
        (["ask", "--image", "missing.png", "--json"], 2, "image_unreadable", "missing.png"),
        (["buckets", "missing.png", "--json"], 2, "image_unreadable", "missing.png"),
        (["ask", "--prompt", " ", "--json"], 2, "bad_request", "prompt"),
        (["ask", "--temperature", "9", "--json"], 2, "bad_request", "Temperature"),
        (["ask", "--hieghts", "364", "--json"], 2, "bad_setting", "--heights"),
        (["ask", "--heights", "364,512", "--json"], 2, "bad_setting", "--widths"),
        (["ask", "--num-images", "999", "--json"], 2, "too_many_images", "999"),
        (["ask", "--model", "bifocal-dmeo", "--json"], 2, "unknown_model", "bifocal-demo"),
        (["bukets", "--json"], 2, "bad_setting", "buckets"),
    ],
)
def test_errors_are_objects_with_the_contracts_codes(
    words: list[str], status: int, code: str, shown: str
) -> None:
    result = launch(*words)
    assert result.returncode == status
    told = error(result)
    assert told["code"] == code
    assert shown in told["message"]


def test_without_json_an_error_is_a_sentence_on_stderr() -> None:
    result = launch("--port", "x")
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: --port:")
    assert result.stderr.count("\n") == 1


def test_a_misspelt_variable_is_an_error() -> None:
    result = launch("engine-args", "--json", BIFOCAL_HIEGHTS="364")
    assert result.returncode == 2
    assert "BIFOCAL_HEIGHTS" in error(result)["message"]


def test_help_is_on_stdout_or_stderr_and_no_error() -> None:
    result = launch("ask", "--help")
    assert result.returncode == 0
    assert "--num-images" in result.stdout + result.stderr
