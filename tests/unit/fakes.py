"""Engines that answer at once, or when a test lets them; they keep the protocols of the real ones.

Nothing here imports vLLM or torch.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterable, Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from prometheus_client import Metric

from backend.engines.loader import Report
from backend.engines.protocols import Chunk, Engine, LanguageDecoder, PreparedImage, VisionEncoder
from backend.errors import EngineError
from backend.plan import Plan
from backend.prompts import Prompt
from backend.service import Bifocal
from backend.settings import read_settings
from backend.types import (
    ChatRequest,
    DoneEvent,
    Embedding,
    Event,
    ImageInput,
    ImagesEvent,
    Result,
    Sampling,
    StageEvent,
    Turn,
)

from .pictures import saved


class Rows:
    """As much of a tensor as is asked of one: its bytes."""

    def __init__(self, nbytes: int) -> None:
        self._nbytes = nbytes

    def numel(self) -> int:
        return self._nbytes // 2

    def element_size(self) -> int:
        return 2


def embedding(nbytes: int, image: PreparedImage | None = None) -> Embedding:
    """An embedding of so many bytes."""
    from backend.placement import Bucket

    bucket = image.bucket if image else Bucket(28, 28, None, 1)
    sha256 = image.sha256 if image else "sha"
    rows: Any = Rows(nbytes)
    return Embedding("model", sha256, bucket, rows, {}, 0.01)


class FakeEngine:
    """Alive until told otherwise."""

    def __init__(self) -> None:
        self.dead: Exception | None = None
        self.ended = self.killed = 0
        self.detail = ""

    async def check_health(self) -> None:
        if self.dead:
            raise self.dead

    async def parameters(self) -> dict[str, int]:
        return {}

    @property
    def unfinished(self) -> int:
        return 0

    def metrics(self) -> Iterable[Metric]:
        return ()

    def kill(self) -> None:
        self.killed += 1

    def shutdown(self) -> None:
        self.ended += 1


class FakeEncoder(FakeEngine):
    """Remembers what it encoded. `gate` closed makes it wait; `fail_on` is the n-th that fails."""

    def __init__(self) -> None:
        super().__init__()
        self.encoded: list[PreparedImage] = []
        self.waiting = self.cancelled = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.together: asyncio.Barrier | None = None
        self.fail_on: int | None = None

    async def encode(self, image: PreparedImage) -> Embedding:
        self.encoded.append(image)
        if self.fail_on == len(self.encoded):
            await asyncio.sleep(0)
            raise EngineError("The vision encoder stopped working.")
        if self.together:
            await self.together.wait()
        self.waiting += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return embedding(1000, image)


class FakeDecoder(FakeEngine):
    """Answers `words`, one a token. `gate` closed makes it wait after the first."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__()
        self.tokenizer = tokenizer
        self.words = ("A ", "red ", "circle.")
        self.prompts: list[Prompt] = []
        self.images: list[Sequence[Any]] = []
        self.samplings: list[Sampling] = []
        self.closed = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.failure: Exception | None = None

    async def generate(
        self,
        prompt: Prompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        sampling: Sampling,
    ) -> AsyncGenerator[Chunk, None]:
        self.prompts.append(prompt)
        self.images.append(images)
        self.samplings.append(sampling)
        try:
            for number, word in enumerate(self.words, 1):
                last = number == len(self.words)
                yield Chunk(word, number, 50, "stop" if last else None)
                await self.gate.wait()
                if self.failure:
                    raise self.failure
        finally:
            self.closed += 1


class FakeLoader:
    """A loader of these engines; `gate` closed makes it wait.

    `failures` are raised, one a call; `failure` is raised by every call.
    """

    def __init__(self, encoder: FakeEncoder | None, decoder: FakeDecoder) -> None:
        self.encoder, self.decoder = encoder, decoder
        self.gate = threading.Event()
        self.gate.set()
        self.failure: Exception | None = None
        self.failures: list[Exception] = []
        self.silent = self.stopped = False
        self.loaded: list[str] = []

    @property
    def calls(self) -> int:
        return len(self.loaded)

    def __call__(self, plan: Plan, role: str, report: Report) -> Engine:
        self.loaded.append(role)
        report("loading weights")
        assert self.gate.wait(20)
        if self.failures:
            raise self.failures.pop(0)
        if self.failure:
            raise self.failure
        if not self.silent:
            try:
                report("nearly there")
            except EngineError:
                self.stopped = True
                raise
        return self.encoder if role == "vision" and self.encoder else self.decoder


class App:
    """A backend over fake engines."""

    def __init__(self, tokenizer: Any, **flags: Any) -> None:
        fused = flags.get("topology") == "fused"
        self.encoder, self.decoder = FakeEncoder(), FakeDecoder(tokenizer)
        self.loader = FakeLoader(None if fused else self.encoder, self.decoder)
        self.backend = Bifocal(read_settings({"target": "cpu", **flags}), loader=self.loader)

    async def started(self) -> App:
        self.backend.start()
        await self.backend.ready()
        return self

    async def events(self, request: ChatRequest) -> list[Event]:
        return [event async for event in self.backend.stream(request)]

    async def answer(self, request: ChatRequest) -> Result:
        done = (await self.events(request))[-1]
        assert isinstance(done, DoneEvent)
        return done.result


def _the_protocols_are_kept(encoder: FakeEncoder, decoder: FakeDecoder) -> None:
    """For mypy."""
    _encoder: VisionEncoder = encoder
    _decoder: LanguageDecoder = decoder


def picture_file(
    folder: Path, name: str, colour: Any, size: tuple[int, int] = (64, 48)
) -> ImageInput:
    """An image of one colour on the disk, as a person names it."""
    path = folder / name
    path.write_bytes(saved(Image.new("RGB", size, colour)))
    return ImageInput(str(path), "path")


def ask(text: str = "What is it?", *images: ImageInput, **options: Any) -> ChatRequest:
    """One question."""
    return ChatRequest((Turn("user", text, images),), **options)


def shape(events: Sequence[Any]) -> list[str]:
    """Events by kind, stages by name."""
    return [
        event.stage
        if isinstance(event, StageEvent)
        else "images"
        if isinstance(event, ImagesEvent)
        else type(event).__name__.removesuffix("Event").lower()
        for event in events
    ]
