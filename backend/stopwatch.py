"""Stopwatch: where the seconds of one answer went."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from backend.types import Timings


class Stopwatch:
    """Runs from its making. Time spent in `pause` (engines still loading) counts nowhere."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._started = clock()
        self._paused = 0.0
        self._stages: dict[str, float] = {}
        self._first: float | None = None

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Adds the time inside to the stage."""
        started = self._clock()
        try:
            yield
        finally:
            self._stages[name] = self._stages.get(name, 0.0) + self._clock() - started

    @contextmanager
    def pause(self) -> Iterator[None]:
        """Takes the time inside out of every figure."""
        started = self._clock()
        try:
            yield
        finally:
            self._paused += self._clock() - started

    def token(self) -> None:
        """A token has come; the first one ends prefill."""
        if self._first is None:
            self._first = self._clock()

    def timings(self) -> Timings:
        """The figures so far, in seconds."""
        now = self._clock()
        total = now - self._started - self._paused
        first = now if self._first is None else self._first
        return Timings(
            fetch_s=self._stages.get("fetch", 0.0),
            prepare_s=self._stages.get("prepare", 0.0),
            queue_s=self._stages.get("queue", 0.0),
            encode_s=self._stages.get("encode", 0.0),
            ttft_s=first - self._started - self._paused,
            decode_s=now - first,
            total_s=total,
        )
