"""What is told before an engine is started, and why one that was started failed."""

from __future__ import annotations

import json
import logging
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from backend.engines import root_cause, version
from backend.engines.weights import check_weights, safetensors_header
from backend.errors import EngineError, ModelError
from backend.plan import Plan
from backend.settings import repository

WEIGHTS = repository() / "assets" / "demo_model" / "model.safetensors"


def write(path: Path, header: dict[str, Any], data: bytes) -> Path:
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)
    return path


def tensor(dtype: str, begin: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": [(end - begin) // 2], "data_offsets": [begin, end]}


def test_the_bundled_weights_are_whole(plan: Plan) -> None:
    header = safetensors_header(WEIGHTS)
    assert len(header) == 104
    check_weights(WEIGHTS.parent, plan)


@pytest.mark.parametrize(
    ("length", "how"), [(18_000_000, "18,000,000 bytes instead of 18,743,352"), (5000, ""), (3, "")]
)
def test_a_download_that_broke_off(plan: Plan, tmp_path: Path, length: int, how: str) -> None:
    (tmp_path / WEIGHTS.name).write_bytes(WEIGHTS.read_bytes()[:length])
    with pytest.raises(ModelError, match=rf"model\.safetensors is damaged.*{how}.*again") as caught:
        check_weights(tmp_path, plan)
    assert caught.value.code == "model_unavailable"


@pytest.mark.parametrize("data", [b"", b"<html>not found</html>" * 99, b"\x00" * 64, b"\xff" * 64])
def test_a_file_that_is_something_else(plan: Plan, tmp_path: Path, data: bytes) -> None:
    (tmp_path / "model.safetensors").write_bytes(data)
    with pytest.raises(ModelError, match="damaged"):
        check_weights(tmp_path, plan)


@pytest.mark.parametrize(
    "header", [[], {"a": 1}, {"a": {"dtype": "F32"}}, {"a": {"data_offsets": 3}}]
)
def test_a_header_that_makes_no_sense(plan: Plan, tmp_path: Path, header: Any) -> None:
    write(tmp_path / "model.safetensors", header, b"")
    with pytest.raises(ModelError, match="damaged"):
        check_weights(tmp_path, plan)


def test_a_folder_without_weights(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"no weights.*--load-format dummy"):
        check_weights(tmp_path, plan)
    check_weights(tmp_path, replace(plan, load_format="dummy"))


def test_a_model_that_does_not_fit_is_told_with_figures(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three GiB of bfloat16 become six of float32."""
    size = 3 * 2**30
    path = write(tmp_path / "model.safetensors", {"a": tensor("BF16", 0, size)}, b"")
    with path.open("ab") as file:
        file.truncate(file.tell() + size)
    free = psutil.virtual_memory()._replace(available=5 * 2**30)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: free)
    with pytest.raises(
        EngineError, match=r"needs about 7\.\d GiB.*6\.0 for weights.*5\.0 are free"
    ):
        check_weights(tmp_path, replace(plan, dtype="float32"))
    check_weights(tmp_path, replace(plan, dtype="bfloat16"))


@pytest.mark.parametrize(
    ("installed", "message"),
    [(None, "not installed"), ("0.22.1", r"0\.22\.1 is installed.*0\.23 or newer"),
     ("0.23.0", None), ("0.32.0+cpu", None), ("1.0.0", None), ("0.9.2", "0.23 or newer")],
)  # fmt: skip
def test_the_version_of_vllm(
    monkeypatch: pytest.MonkeyPatch, installed: str | None, message: str | None
) -> None:
    monkeypatch.setattr(version, "installed_vllm", lambda: installed)
    if message is None:
        version.check_vllm()
        return
    with pytest.raises(EngineError, match=message):
        version.check_vllm()


def test_the_vllm_installed_here_is_found() -> None:
    found = version.installed_vllm()
    assert found and found.startswith("0.")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    import os

    monkeypatch.delenv(root_cause.FOLDER, raising=False)
    root_cause.make_folder()
    yield Path(os.environ[root_cause.FOLDER])
    root_cause.remove_folder()


@pytest.fixture
def log(folder: Path) -> Iterator[logging.Logger]:
    """vLLM's logger in an engine process."""
    logger = logging.getLogger(root_cause.LOGGERS[0])
    before = list(logger.filters)
    root_cause.tell_root_cause()
    root_cause.tell_root_cause()
    assert len(logger.filters) == len(before) + 1
    yield logger
    logger.filters[:] = before


def fail(log: logging.Logger, error: Exception, said: str = "EngineCore failed to start.") -> None:
    try:
        raise error
    except Exception:
        log.exception(said)


def test_the_reason_comes_over_once(log: logging.Logger) -> None:
    fail(log, ValueError("There is  no module\nnamed 'visual'"))
    assert root_cause.take_root_cause() == "There is no module named 'visual'"
    assert root_cause.take_root_cause() is None


def test_who_only_passes_a_fault_on_is_not_the_cause(log: logging.Logger) -> None:
    fail(log, ValueError("no memory"))
    fail(log, RuntimeError("Engine core initialization failed. See root cause above."))
    assert root_cause.take_root_cause() == "no memory"


def test_other_errors_are_left_alone(log: logging.Logger, caplog: pytest.LogCaptureFixture) -> None:
    fail(log, ValueError("later"), "EngineCore encountered a fatal error.")
    log.error("failed to start, without an exception")
    assert root_cause.take_root_cause() is None


def test_the_folder_is_removed(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    (folder / "1.json").write_text('{"reason": "x"}')
    root_cause.remove_folder()
    assert not folder.exists()
    assert root_cause.take_root_cause() is None
