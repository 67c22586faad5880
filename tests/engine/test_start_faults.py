"""Engines that cannot start: one sentence with the reason, status 3, no stack trace."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file, save_file

from backend.settings import repository

DEMO = repository() / "assets" / "demo_model"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of the bundled model to be broken."""
    return Path(
        shutil.copytree(DEMO, tmp_path / "model", ignore=shutil.ignore_patterns("training"))
    )


def refused(model: Path, *flags: str) -> dict[str, str]:
    """The error of `ask --json`."""
    command = ["launch.py", "ask", "--model", str(model), "--prompt", "Hi", "--json", *flags]
    ended = subprocess.run(
        [sys.executable, *command], cwd=repository(), capture_output=True, text=True, timeout=180,
        check=False,
    )  # fmt: skip
    assert ended.returncode == 3, ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr, ended.stderr
    error: dict[str, str] = json.loads(ended.stdout)["error"]
    return error


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_weights_that_are_missing(model: Path) -> None:
    (model / "model.safetensors").unlink()
    error = refused(model)
    assert error["code"] == "model_unavailable"
    assert "has no weights" in error["message"]


def test_weights_that_are_damaged(model: Path) -> None:
    weights = model / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:9_000_000])
    error = refused(model)
    assert error["code"] == "model_unavailable"
    assert "9,000,000 bytes instead of 18,743,352" in error["message"]


def test_weights_of_another_model(model: Path) -> None:
    """Only the engine process can find that out; its reason comes over."""
    weights = model / "model.safetensors"
    tensors = load_file(weights)
    name = next(name for name in tensors if name.endswith("embed_tokens.weight"))
    tensors[name] = tensors[name][:100].contiguous()
    save_file(tensors, weights, {"format": "pt"})
    error = refused(model)
    assert error["code"] == "engine_failed"
    assert "did not start" in error["message"]
    assert "See root cause above" not in error["message"]


def test_a_model_larger_than_memory(model: Path) -> None:
    """A file with a hole: petabytes that take no space."""
    weights = model / "model.safetensors"
    size = 2**42
    header = json.dumps({"a": {"dtype": "F32", "shape": [size // 4], "data_offsets": [0, size]}})
    with weights.open("wb") as file:
        file.write(len(header).to_bytes(8, "little") + header.encode())
        file.truncate(8 + len(header) + size)
    error = refused(model)
    assert error["code"] == "engine_failed"
    assert "of memory here (4096.0 for weights" in error["message"]


def test_a_type_that_the_engines_do_not_know(model: Path) -> None:
    change(model / "config.json", architectures=["NobodysModel"])
    error = refused(model)
    assert "NobodysModel" in error["message"]
