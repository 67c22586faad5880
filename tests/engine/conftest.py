"""Real vLLM engines on the CPU, started once for all engine tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image, ImageDraw

from backend.engines.environment import prepare_environment
from backend.engines.protocols import LanguageDecoder, VisionEncoder
from backend.service import Bifocal
from backend.settings import read_settings
from backend.types import ImageInput
from tests.engine.asking import saved

LOADING_S = 240


async def started(**settings: object) -> Bifocal:
    """A backend whose engines are ready."""
    backend = Bifocal(read_settings(settings))
    prepare_environment(backend.plan, os.environ)
    backend.start()
    await backend.ready()
    return backend


@pytest_asyncio.fixture(scope="session")
async def split() -> AsyncIterator[Bifocal]:
    """The bundled model as two engines."""
    backend = await started()
    yield backend
    await backend.shutdown()


@pytest_asyncio.fixture(scope="session")
async def fused() -> AsyncIterator[Bifocal]:
    """The bundled model as one ordinary vLLM engine."""
    backend = await started(topology="fused")
    yield backend
    await backend.shutdown()


@pytest_asyncio.fixture(scope="session")
async def encoder(split: Bifocal) -> VisionEncoder:
    engines = await split.ready()
    assert engines.encoder is not None
    return engines.encoder


@pytest_asyncio.fixture(scope="session")
async def decoder(split: Bifocal) -> LanguageDecoder:
    return (await split.ready()).decoder


@pytest.fixture
def pictures(tmp_path: Path) -> list[ImageInput]:
    """Four pictures of different sizes, aspects and content; one for each bucket at least."""
    disc = Image.new("RGB", (640, 480), "white")
    ImageDraw.Draw(disc).ellipse((100, 100, 300, 300), fill="red")
    noise = Image.effect_noise((1920, 1080), 90).convert("RGB")
    square = Image.new("RGB", (300, 200), "black")
    ImageDraw.Draw(square).rectangle((20, 20, 120, 120), fill="yellow")
    portrait = Image.linear_gradient("L").resize((300, 900)).convert("RGB")
    drawn = {"disc": disc, "noise": noise, "square": square, "portrait": portrait}
    return [saved(tmp_path, f"{name}.png", picture) for name, picture in drawn.items()]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LOADING_S))
