"""EngineSide: questions to engines without Bifocal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from backend.bench.figures import Answer
from backend.bench.lap import Lap
from backend.bench.question import Question


class Answering(Protocol):
    """Engines that answer; `backend.engines.unaided` has them."""

    async def answer(
        self, text: str, pictures: Sequence[Path], tokens: int, heard: Callable[[], None]
    ) -> tuple[int, str]:
        """Greedy, with exactly `tokens` tokens; `heard` is called when some have come."""
        ...


class EngineSide:
    """Asks one engine, or several in turn, which share the questions out among themselves."""

    def __init__(self, *engines: Answering) -> None:
        self._engines = engines
        self._asked = 0

    async def ask(self, question: Question) -> Answer:
        """As every side does."""
        engine = self._engines[self._asked % len(self._engines)]
        self._asked += 1
        lap = Lap()
        count, text = await engine.answer(
            question.text, question.pictures, question.tokens, lap.token
        )
        return lap.answer(count, text)
