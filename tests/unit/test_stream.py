"""An answer in flight can be left at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from backend.types import Event, TokenEvent
from ui.stream import Run

from .eventually import until


class Endless:
    """A backend that says a word whenever it is told to, until it is closed."""

    def __init__(self) -> None:
        self.word, self.closed = asyncio.Event(), False

    async def events(self) -> AsyncGenerator[Event, None]:
        try:
            while True:
                yield TokenEvent("word ")
                await self.word.wait()
                self.word.clear()
        finally:
            self.closed = True


@pytest.mark.parametrize("turns", range(5))
async def test_leaving_at_the_moment_of_a_word_ends_the_request(turns: int) -> None:
    """Before Python 3.12 `asyncio.wait_for` gave the word, and forgot that nobody wanted it.

    The moment is one of the next few turns of the event loop.
    """
    backend = Endless()
    batches = Run(backend.events()).batches()
    await anext(batches)
    reading = asyncio.ensure_future(anext(batches))
    await asyncio.sleep(0.1)
    backend.word.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    if reading.done():
        await batches.aclose()
    else:
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
    await until(lambda: backend.closed)


async def test_a_silent_backend_is_told_by_empty_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui.stream.TICK", 0.01)
    backend = Endless()
    batches = Run(backend.events()).batches()
    assert await anext(batches) == [TokenEvent("word ")]
    assert await anext(batches) == []
    await batches.aclose()
    await until(lambda: backend.closed)
