"""Deadlines of the stages in which a request waits for an engine."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from backend.errors import BusyError, EngineError

QUEUE_S: Final = 600.0
"""Longer than any wait that ends well: whoever is told to come again later has waited for that."""
ENGINE_S: Final = 900.0
"""A step of an engine that works. Large models read long prompts for minutes on a CPU; an engine
that does not work is found out long before, by its keeper."""


@asynccontextmanager
async def queue_deadline() -> AsyncIterator[None]:
    """Around waiting for a turn. Raises BusyError."""
    try:
        async with asyncio.timeout(QUEUE_S):
            yield
    except TimeoutError:
        raise BusyError(
            f"Nobody left the queue for {QUEUE_S / 60:.0f} minutes: try again later."
        ) from None


@asynccontextmanager
async def engine_deadline(what: str) -> AsyncIterator[None]:
    """Around one answer of an engine. Raises EngineError."""
    try:
        async with asyncio.timeout(ENGINE_S):
            yield
    except TimeoutError:
        raise EngineError(
            f"The {what} did not get on for {ENGINE_S / 60:.0f} minutes and was given up: try "
            "again, or with less."
        ) from None
