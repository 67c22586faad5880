"""Whether an engine process that is alive still moves."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Final

import psutil

WAIT_S: Final = 0.2
"""Seconds that one look waits for an answer; an idle engine answers in a few milliseconds."""
SILENT_S: Final = 10.0
"""Seconds without an answer and without work after which an engine counts as hung."""
STOPPED_S: Final = 2.0
"""The same, where the system says that its process is stopped."""
WORK_S: Final = 0.02
"""Seconds of processor time between two looks that count as work."""


class Pulse:
    """Asks an engine for a sign of life, time and again.

    The question goes through the engine's own loop, so it is answered between two steps, which may
    be long after. Hung is therefore only who does not answer while its processes do not use the
    processor either: a step on the CPU computes, one on an accelerator polls.
    """

    def __init__(self, pids: Sequence[int], ask: Callable[[], Awaitable[object]]) -> None:
        self._pids, self._ask = tuple(pids), ask
        self._answer: asyncio.Future[object] | None = None
        self._quiet_since = time.monotonic()
        self._worked = 0.0

    async def hung(self) -> str:
        """One look: what is wrong, or nothing."""
        if self._answer is None:
            self._answer = asyncio.ensure_future(self._ask())
            self._quiet_since = time.monotonic()
        await asyncio.wait([self._answer], timeout=WAIT_S)
        if self._answer.done():
            # Whether the answer is an error does not matter here: it is a sign of life.
            self._answer.exception()
            self._answer = None
            return ""
        processes = list(self._processes())
        worked = sum(map(_processor_time, processes))
        if abs(worked - self._worked) > WORK_S:
            self._worked, self._quiet_since = worked, time.monotonic()
        quiet = time.monotonic() - self._quiet_since
        if quiet > STOPPED_S and any(map(_is_stopped, processes)):
            return "its process is stopped"
        return f"no answer for {quiet:.0f} s" if quiet > SILENT_S else ""

    def kill(self) -> None:
        """End the processes at once."""
        for process in list(self._processes()):
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def close(self) -> None:
        """Ask no more; from any thread."""
        answer = self._answer
        if answer is not None and not answer.done():
            answer.get_loop().call_soon_threadsafe(answer.cancel)

    def _processes(self) -> Iterator[psutil.Process]:
        for pid in self._pids:
            with suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                yield process
                yield from process.children(recursive=True)


def _processor_time(process: psutil.Process) -> float:
    with suppress(psutil.NoSuchProcess):
        times = process.cpu_times()
        return float(times.user + times.system)
    return 0.0


def _is_stopped(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() == psutil.STATUS_STOPPED)
    return False
