"""Bifocal: one request from a conversation to a stream of events. The path worth reading first.

intake -> bucket -> embedding, or the cached one -> prompt -> tokens
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace

from backend.cache import EmbeddingCache
from backend.context import FittedPrompt, fit_context
from backend.engines.loader import Engines, load_engines
from backend.engines.protocols import PreparedImage
from backend.intake.decode import decode
from backend.intake.limits import intake_limits
from backend.intake.prepare import (
    Picture,
    picture_digest,
    place_picture,
    place_together,
    placements_together,
    prepare_picture,
)
from backend.intake.preview import webp_thumbnail
from backend.intake.read import display_name
from backend.intake.reader import Reader
from backend.intake.scale import enough_pixels
from backend.model_sampling import complete_sampling
from backend.plan import Plan, make_plan
from backend.settings import Settings
from backend.stopwatch import Stopwatch
from backend.supervisor import Loader, Supervisor
from backend.tasks import gather_or_cancel
from backend.types import (
    ChatRequest,
    DoneEvent,
    Embedding,
    Event,
    Fit,
    Health,
    ImageInput,
    ImagesEvent,
    PlacedImage,
    Result,
    StageEvent,
    TokenEvent,
    Usage,
)
from backend.validate import check_request


class Bifocal:
    """The backend: owns the engines, the embedding cache and the way through them."""

    def __init__(
        self, settings: Settings, plan: Plan | None = None, loader: Loader = load_engines
    ) -> None:
        self.settings = settings
        self.plan = plan or make_plan(settings)
        self._limits = intake_limits(settings)
        self._reader = Reader(self._limits)
        self._cache = EmbeddingCache(settings.embedding_cache_mb * 1_000_000)
        self._supervisor = Supervisor(self.plan, loader)

    def check(self, request: ChatRequest) -> None:
        """Raises InputError for a request that could not be answered by any engine."""
        check_request(request, self.plan)

    def start(self) -> None:
        """Load the engines in the background; needs a running event loop."""
        self._supervisor.start()

    async def ready(self) -> Engines:
        """The engines, once they are there. Raises EngineError or ModelError otherwise."""
        return await self._supervisor.ready()

    async def shutdown(self) -> None:
        """End the engines' processes."""
        await self._supervisor.shutdown()

    def health(self) -> Health:
        """State of the app and of each engine; cheap, from any thread."""
        return self._supervisor.health()

    async def place(self, image: ImageInput, fit: Fit | None = None) -> PlacedImage:
        """The bucket an image would be given; needs no engine. Raises InputError."""
        data = await asyncio.to_thread(self._reader.read, image)
        return self._report(await asyncio.to_thread(self._place, image, data, fit))

    def together(self, images: Sequence[PlacedImage]) -> list[PlacedImage]:
        """The same images as they would be placed in one request; each was placed by itself."""
        placements = placements_together(images, self.plan)
        digests = [
            picture_digest(image.sha256, placement, self.plan)
            for image, placement in zip(images, placements, strict=True)
        ]
        return [
            replace(image, placement=placement, cached=digest in self._cache)
            for image, placement, digest in zip(images, placements, digests, strict=True)
        ]

    async def preview(self, image: ImageInput, side: int) -> bytes:
        """The picture as a person sees it, as a small WebP file. Raises InputError."""
        data = await asyncio.to_thread(self._reader.read, image)
        loaded = await asyncio.to_thread(
            decode, data, display_name(image), self._limits, (side, side)
        )
        return await asyncio.to_thread(webp_thumbnail, loaded.pixels, side)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """Answer the last turn. Raises BifocalError; closing the iterator aborts the request."""
        self.check(request)
        # The bucket rule is transformers'; its first import takes seconds, which are no answer's.
        await asyncio.to_thread(getattr, self.plan, "buckets")
        watch = Stopwatch()
        inputs = [image for turn in request.turns for image in turn.images]
        if inputs:
            yield StageEvent("fetch", "Reading the images")
        pictures = await self._load(inputs, request.fit, watch)
        placed = [self._report(picture) for picture in place_together(pictures, self.plan)]
        yield ImagesEvent(tuple(placed))

        if self._supervisor.is_loading:
            yield StageEvent("waiting", "Waiting for the engines to load")
        with watch.pause():
            engines = await self._supervisor.ready()
        fitted = fit_context(request, pictures, self.plan, engines.decoder.tokenizer)
        pictures = list(fitted.pictures)
        # Asked again: another request may have had a picture encoded during the wait.
        placed = [self._report(picture) for picture in pictures]

        if engines.encoder and not all(image.cached for image in placed):
            yield StageEvent("encode", "The vision encoder looks at the images")
        images = await self._feed(engines, pictures, watch)
        yield StageEvent("prefill", "The language decoder reads the prompt")
        answer = self._answer(engines, fitted, images, request, watch, placed)
        async with aclosing(answer) as events:
            async for event in events:
                yield event

    async def _load(
        self, inputs: Sequence[ImageInput], fit: Fit | None, watch: Stopwatch
    ) -> list[Picture]:
        """Fetch and decode every image at the same time, off the event loop."""
        with watch.stage("fetch"):
            data = await gather_or_cancel(
                asyncio.to_thread(self._reader.read, image) for image in inputs
            )
        with watch.stage("prepare"):
            return await gather_or_cancel(
                asyncio.to_thread(self._place, image, body, fit)
                for image, body in zip(inputs, data, strict=True)
            )

    def _place(self, image: ImageInput, data: bytes, fit: Fit | None) -> Picture:
        enough = enough_pixels(self.plan.buckets)
        loaded = decode(data, display_name(image), self._limits, enough)
        return place_picture(loaded, self.plan, fit)

    async def _feed(
        self, engines: Engines, pictures: Sequence[Picture], watch: Stopwatch
    ) -> list[Embedding] | list[PreparedImage]:
        """What the decoder is given: embeddings, each distinct picture encoded at most once.

        A fused engine is given the pixels.
        """
        found = {picture.digest: self._cache.get(picture.digest) for picture in pictures}
        missing = {p.digest: p for p in pictures if found[p.digest] is None}
        with watch.stage("prepare"):
            prepared = await gather_or_cancel(
                asyncio.to_thread(prepare_picture, picture) for picture in missing.values()
            )
        if engines.encoder is None:
            by_digest = {image.digest: image for image in prepared}
            return [by_digest[picture.digest] for picture in pictures]
        if prepared:
            with watch.stage("encode"), self._supervisor.running("vision"):
                encoded = await gather_or_cancel(map(engines.encoder.encode, prepared))
            for image, fresh in zip(prepared, encoded, strict=True):
                self._cache.put(image.digest, fresh)
                found[image.digest] = fresh
        return [embedding for p in pictures if (embedding := found[p.digest])]

    async def _answer(
        self,
        engines: Engines,
        fitted: FittedPrompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        request: ChatRequest,
        watch: Stopwatch,
        placed: Sequence[PlacedImage],
    ) -> AsyncGenerator[Event, None]:
        """Tokens as they come, then the result."""
        pieces: list[str] = []
        usage, finish_reason = Usage(), None
        tokenizer = engines.decoder.tokenizer
        sampling = complete_sampling(request.sampling, self.plan.spec, tokenizer)
        chunks = engines.decoder.generate(fitted.prompt, images, sampling)
        with self._supervisor.running("language"):
            async with aclosing(chunks):
                async for chunk in chunks:
                    watch.token()
                    usage = Usage(chunk.prompt_tokens, fitted.image_tokens, chunk.tokens)
                    finish_reason = chunk.finish_reason
                    if chunk.text:
                        pieces.append(chunk.text)
                        yield TokenEvent(chunk.text)
        yield DoneEvent(
            Result(
                text="".join(pieces),
                finish_reason=finish_reason or "abort",
                model=self.plan.model,
                target=self.plan.target,
                topology=self.plan.topology,
                method=fitted.method,
                images=tuple(placed),
                usage=usage,
                timings=watch.timings(),
                notes=(*self.plan.notes, *fitted.notes),
            )
        )

    def _report(self, picture: Picture) -> PlacedImage:
        image = picture.image
        return PlacedImage(
            image.source,
            image.width,
            image.height,
            image.sha256,
            picture.placement,
            image.notes,
            cached=picture.digest in self._cache,
        )
