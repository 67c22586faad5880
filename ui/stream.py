"""An answer in flight: draining the backend's events, pacing them, and adding them up."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Callable
from typing import TYPE_CHECKING

from backend.placement import PlacedImage
from backend.types import (
    DoneEvent,
    Event,
    FinishReason,
    ImagesEvent,
    Result,
    StageEvent,
    Timings,
    TokenEvent,
    Usage,
)

if TYPE_CHECKING:
    from backend.service import Bifocal

INTERVAL = 1 / 30
"""Least seconds between two updates of a page: faster is not seen."""

UPDATES_PER_CORE = 10
"""Updates a second of all answers together, for every core of the machine. Each costs some
milliseconds of the cores that engines on the CPU compute with; an answer among many comes slowly
enough for fewer."""

REDRAWN_PER_S = 25_000
"""Characters a second that a browser may have to draw anew. With every update it reads the whole
answer as Markdown again, so a long one is updated less often; else Stop would wait behind them."""

ANSWERING = StageEvent("decode", "The language decoder answers")
"""What tokens that come say by themselves."""

TICK = 1.0
"""Seconds of silence after which an empty batch comes, so that a reader that left is noticed."""


class Run:
    """One request, drained by a task of its own.

    The task is the only one that touches the backend's generator, so `stop` may be called from
    any handler at any time: the generator is closed, and with it the request in the engines.
    """

    def __init__(
        self, events: AsyncGenerator[Event, None], answering: Callable[[], int] = lambda: 1
    ) -> None:
        """`answering` tells how many answers come at the moment."""
        self.stopped = False
        self._answering = answering
        self._updates_per_s = UPDATES_PER_CORE * (os.cpu_count() or 1)
        self._queue: asyncio.Queue[Event | None] = asyncio.Queue()
        self._task = asyncio.create_task(self._drain(events))
        # Not in `_drain`: a task that is cancelled before its first step never runs any of it.
        self._task.add_done_callback(lambda _: self._queue.put_nowait(None))

    async def _drain(self, events: AsyncGenerator[Event, None]) -> None:
        try:
            async for event in events:
                self._queue.put_nowait(event)
        finally:
            await events.aclose()

    def stop(self) -> None:
        """End the request; `batches` then ends too, without an error."""
        self.stopped = True
        self._task.cancel()

    async def batches(self) -> AsyncGenerator[list[Event], None]:
        """Events as they come, the first and the first token at once, then at most 30 batches a
        second, fewer of a long answer and of many answers; an empty one after each silent `TICK`.

        Raises what the backend raised. Leaving the iterator early stops the request.
        """
        batch: list[Event] = []
        due, length = 0.0, 0
        try:
            while True:
                wait = max(0.0, due - time.monotonic()) if batch else TICK
                try:
                    # Not `wait_for`: before Python 3.12 it loses a cancellation that comes at the
                    # moment of an event, and the answer would go on with nobody there.
                    async with asyncio.timeout(wait):
                        event = await self._queue.get()
                except TimeoutError:
                    pass
                else:
                    if event is None:
                        break
                    batch.append(event)
                    if isinstance(event, TokenEvent):
                        due = due if length else 0.0
                        length += len(event.text)
                    if time.monotonic() < due:
                        continue
                yield batch
                batch = []
                due = time.monotonic() + self._pause(length)
            if batch:
                yield batch
            if not self.stopped:
                await self._task
        finally:
            self._task.cancel()

    def _pause(self, length: int) -> float:
        """Seconds to the next update of an answer of so many characters."""
        return max(INTERVAL, length / REDRAWN_PER_S, self._answering() / self._updates_per_s)


class Progress:
    """What is known of an answer so far."""

    def __init__(self, backend: Bifocal) -> None:
        self._plan = backend.plan
        self._started = time.monotonic()
        self._first_token = 0.0
        self._tokens = 0
        self._done: Result | None = None
        self.text = ""
        self.images: tuple[PlacedImage, ...] = ()
        self.stage: StageEvent | None = None

    def add(self, events: list[Event]) -> None:
        """Take more events in."""
        for event in events:
            match event:
                case StageEvent():
                    self.stage = event
                case ImagesEvent(images):
                    self.images = images
                case TokenEvent(text):
                    self.stage = ANSWERING
                    self._first_token = self._first_token or time.monotonic()
                    self._tokens += 1
                    self.text += text
                case DoneEvent(result):
                    self._done = result

    @property
    def seconds(self) -> float:
        """Since the request was made."""
        return time.monotonic() - self._started

    def result(self, finish_reason: FinishReason | None = None) -> Result:
        """The result object: the backend's once it is done, else what is known by now."""
        if self._done:
            return self._done
        plan, first = self._plan, self._first_token
        return Result(
            text=self.text,
            finish_reason=finish_reason,
            model=plan.model,
            target=plan.target,
            topology=plan.topology,
            method=plan.method,
            images=self.images,
            usage=Usage(
                image_tokens=sum(image.placement.bucket.tokens for image in self.images),
                completion_tokens=self._tokens,
            ),
            timings=Timings(
                ttft_s=first - self._started if first else 0.0,
                decode_s=time.monotonic() - first if first else 0.0,
                total_s=self.seconds,
            ),
        )
