"""Lap: times one answer."""

from __future__ import annotations

import time

from backend.bench.figures import Answer


class Lap:
    """Runs from its making."""

    def __init__(self) -> None:
        self._started = time.perf_counter()
        self._first: float | None = None

    def token(self, ago_s: float = 0.0) -> None:
        """A token has come, now or so many seconds ago; only the first one counts."""
        if self._first is None:
            self._first = time.perf_counter() - ago_s

    def answer(self, tokens: int, text: str) -> Answer:
        """The answer that is complete now."""
        now = time.perf_counter()
        first = now if self._first is None else self._first
        return Answer(first - self._started, now - self._started, tokens, text)
