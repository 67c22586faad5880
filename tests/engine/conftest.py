"""Real vLLM engines on the CPU, started once for all engine tests."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from backend.engines.environment import prepare_environment
from backend.engines.protocols import LanguageDecoder, VisionEncoder
from backend.service import Bifocal
from backend.settings import read_settings

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(LOADING_S))
