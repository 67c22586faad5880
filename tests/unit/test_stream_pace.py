"""How often an answer is passed on: its first token at once, then seldom where many come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import pytest

from backend.types import Event, StageEvent, TokenEvent
from ui import stream
from ui.stream import Run

TOKENS = 12


async def told(gap_s: float = 0.005) -> AsyncGenerator[Event, None]:
    """A stage, then tokens that come one by one."""
    yield StageEvent("prefill", "The language decoder reads the prompt")
    for number in range(TOKENS):
        yield TokenEvent(f"{number} ")
        await asyncio.sleep(gap_s)


async def batches(answering: int) -> list[list[Event]]:
    return [batch async for batch in Run(told(), lambda: answering).batches()]


@pytest.fixture(autouse=True)
def long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """So long that no busy machine takes as long over all tokens."""
    monkeypatch.setattr(stream, "UPDATES_PER_CORE", 0.0001)
    monkeypatch.setattr(stream, "INTERVAL", 0.0)


async def test_the_first_token_is_passed_on_at_once_and_the_rest_together() -> None:
    passed = await batches(answering=1)
    assert [len(batch) for batch in passed] == [1, 1, TOKENS - 1]
    assert isinstance(passed[1][0], TokenEvent)


async def test_nothing_is_lost_or_reordered() -> None:
    texts = [event.text for batch in await batches(1) for event in batch if hasattr(event, "text")]
    assert texts == [f"{number} " for number in range(TOKENS)]


async def test_an_answer_alone_is_passed_on_as_it_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    passed = await batches(answering=0)
    assert [len(batch) for batch in passed] == [1] * (TOKENS + 1)


def test_the_more_answers_the_fewer_updates_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "UPDATES_PER_CORE", 20)
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setattr(stream, "INTERVAL", 1 / 30)

    async def pauses() -> list[float]:
        runs = [Run(told(), lambda count=count: count) for count in (1, 4, 8)]  # type: ignore[misc]
        for run in runs:
            run.stop()
        return [run._pause(0) for run in runs]

    assert asyncio.run(pauses()) == [1 / 30, 0.1, 0.2]
