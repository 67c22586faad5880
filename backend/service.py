"""Bifocal: one request from a conversation to a stream of events. The path worth reading first.

intake -> bucket -> turn -> embedding, or the cached one -> prompt -> tokens
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import replace

from backend.admission import Admission, Ticket
from backend.cache import ByteCache
from backend.client import LOCAL, Client
from backend.context import FittedPrompt, fit_context
from backend.deadline import engine_deadline, queue_deadline
from backend.engines.loader import EngineLoader
from backend.engines.protocols import LanguageDecoder, PreparedImage, VisionEncoder
from backend.gauges import gauges
from backend.images import Images
from backend.intake.prepare import Picture, picture_digest, place_together, placements_together
from backend.journal import Entry, Journal
from backend.metrics import Metrics
from backend.model_sampling import complete_sampling
from backend.placement import Fit, PlacedImage
from backend.plan import Plan, make_plan
from backend.rate import RateLimit
from backend.settings import Settings
from backend.stopwatch import Stopwatch
from backend.supervisor import Engines, Loader, Supervisor
from backend.tasks import gather_or_cancel
from backend.types import (
    ChatRequest,
    DoneEvent,
    Embedding,
    Event,
    Health,
    ImageInput,
    ImagesEvent,
    Result,
    StageEvent,
    TokenEvent,
    Usage,
)
from backend.validate import check_image_count, check_request

ADDRESS_SHARE = 4
"""An address may ask as often as this many sessions: several people may sit behind one."""


class Bifocal:
    """The backend: owns the engines, the embedding cache and the way through them."""

    def __init__(
        self, settings: Settings, plan: Plan | None = None, loader: Loader | None = None
    ) -> None:
        self.settings = settings
        self.plan = plan or make_plan(settings)
        self._images = Images(settings, self.plan)
        # By model, picture, bucket and fit.
        self._cache = ByteCache[Embedding](settings.embedding_cache_mb * 1_000_000)
        self._supervisor = Supervisor(self.plan, loader or EngineLoader())
        self._admission = Admission(settings.max_queue, self.plan.capacity("language"))
        # Counts images, so that those of one question come together, and twice what the encoder
        # batches: as many may be encoded and wait for the decoder.
        self._encoding = Admission(settings.max_queue, 2 * self.plan.capacity("vision"))
        self._session_rate = RateLimit(settings.questions_a_minute)
        self._address_rate = RateLimit(ADDRESS_SHARE * settings.questions_a_minute)
        self._metrics = Metrics(
            lambda: gauges(self._admission, self._encoding, self._cache, self._supervisor),
            self._supervisor.metrics,
        )
        self._journal = Journal(self._metrics, settings.log_prompts)

    def check(self, request: ChatRequest) -> None:
        """Raises InputError for a request that could not be answered by any engine."""
        check_request(request, self.plan)

    def check_image_count(self, images: int) -> None:
        """Raises InputError (`too_many_images`) for more than one conversation may have."""
        check_image_count(images, self.plan)

    def start(self) -> None:
        """Load the engines in the background; needs a running event loop."""
        self._supervisor.start()

    async def ready(self) -> Engines:
        """The engines, once they are there. Raises EngineError or ModelError otherwise."""
        return await self._supervisor.ready()

    async def shutdown(self) -> None:
        """End the engines' processes."""
        self._images.close()
        await self._supervisor.shutdown()

    def health(self) -> Health:
        """State of the app and of each engine; cheap, from any thread."""
        return self._supervisor.health()

    @property
    def answering(self) -> int:
        """Requests that the decoder has been given the turn for."""
        return self._admission.running

    def metrics(self) -> str:
        """Bifocal's counters and the engines' own, in Prometheus' text form."""
        return self._metrics.text()

    async def place(self, image: ImageInput, fit: Fit | None = None) -> PlacedImage:
        """The bucket an image would be given; needs no engine. Raises InputError."""
        return self._report(await self._images.place(image, fit))

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
        return await self._images.preview(image, side)

    async def stream(
        self, request: ChatRequest, client: Client = LOCAL
    ) -> AsyncGenerator[Event, None]:
        """Answer the last turn. Raises BifocalError; closing the iterator aborts the request."""
        with self._journal.request(request, client) as entry:
            self.check(request)
            self._session_rate.take(client.session)
            self._address_rate.take(client.address)
            with self._admission.place(client.session or client.address) as ticket:
                async with aclosing(self._events(request, ticket, entry)) as events:
                    async for event in events:
                        yield event

    async def _events(
        self, request: ChatRequest, ticket: Ticket, entry: Entry
    ) -> AsyncGenerator[Event, None]:
        # The bucket rule is transformers'; its first import takes seconds, which are no answer's.
        await asyncio.to_thread(getattr, self.plan, "buckets")
        watch = Stopwatch()
        inputs = [image for turn in request.turns for image in turn.images]
        if inputs:
            yield StageEvent("fetch", "Reading the images")
        pictures = await self._images.load(inputs, request.fit, watch)
        yield ImagesEvent(tuple(map(self._report, place_together(pictures, self.plan))))

        if self._supervisor.is_waiting("language"):
            yield StageEvent("waiting", "Waiting for the engines to load")
        with watch.pause():
            decoder = await self._supervisor.decoder()
        fitted = fit_context(request, pictures, self.plan, decoder.tokenizer)
        pictures = list(fitted.pictures)
        if self._missing(pictures) and self._supervisor.is_waiting("vision"):
            yield StageEvent("waiting", "Waiting for the vision encoder to load")
        with watch.pause():
            encoder = await self._supervisor.encoder() if self._missing(pictures) else None

        with ExitStack() as seat:
            if encoder:
                # A queue of its own: who has nothing to encode need not wait for those who have.
                size = len(self._missing(pictures))
                turn = seat.enter_context(self._encoding.place(ticket.client, size))
                async for event in self._turn(self._encoding, turn, watch):
                    yield event
            # Asked again: another request may have had a picture encoded during the wait.
            placed = [self._report(picture) for picture in pictures]
            if encoder and self._missing(pictures):
                yield StageEvent("encode", "The vision encoder looks at the images")
            images = await self._feed(encoder, pictures, watch)
            async for event in self._turn(self._admission, ticket, watch):
                yield event
        yield StageEvent("prefill", "The language decoder reads the prompt")
        answer = self._answer(decoder, fitted, images, request, watch, placed)
        async with aclosing(answer) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    entry.result = event.result
                yield event

    async def _turn(
        self, admission: Admission, ticket: Ticket, watch: Stopwatch
    ) -> AsyncGenerator[Event, None]:
        """Until an engine has room; tells how many go first."""
        turn = admission.turn(ticket)
        while not ticket.running:
            with watch.stage("queue"):
                async with queue_deadline():
                    before = await anext(turn, None)
            if before is not None:
                yield StageEvent("queue", _place_in_queue(before))

    def _missing(self, pictures: Sequence[Picture]) -> set[str]:
        """Digests of the pictures that are still to be encoded."""
        return {picture.digest for picture in pictures if picture.digest not in self._cache}

    async def _feed(
        self, encoder: VisionEncoder | None, pictures: Sequence[Picture], watch: Stopwatch
    ) -> list[Embedding] | list[PreparedImage]:
        """What the decoder is given: embeddings, each distinct picture encoded at most once.

        A fused engine is given the pixels.
        """
        found = {picture.digest: self._cache.get(picture.digest) for picture in pictures}
        missing = {p.digest: p for p in pictures if found[p.digest] is None}
        with watch.stage("prepare"):
            prepared = await self._images.prepare(list(missing.values()))
        if self.plan.topology == "fused":
            by_digest = {image.digest: image for image in prepared}
            return [by_digest[picture.digest] for picture in pictures]
        if prepared:
            # An embedding may have left the cache while its request was waiting for its turn.
            encoder = encoder or await self._supervisor.encoder()
            assert encoder is not None
            for image, fresh in zip(
                prepared, await self._encode(encoder, prepared, watch), strict=True
            ):
                self._cache.put(image.digest, fresh)
                found[image.digest] = fresh
        return [embedding for p in pictures if (embedding := found[p.digest])]

    async def _encode(
        self, encoder: VisionEncoder, prepared: Sequence[PreparedImage], watch: Stopwatch
    ) -> list[Embedding]:
        with watch.stage("encode"), self._supervisor.running("vision"):
            async with engine_deadline("vision encoder"):
                return await gather_or_cancel(map(encoder.encode, prepared))

    async def _answer(
        self,
        decoder: LanguageDecoder,
        fitted: FittedPrompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        request: ChatRequest,
        watch: Stopwatch,
        placed: Sequence[PlacedImage],
    ) -> AsyncGenerator[Event, None]:
        """Tokens as they come, then the result."""
        pieces: list[str] = []
        usage, finish_reason = Usage(), None
        sampling = complete_sampling(request.sampling, self.plan.spec, decoder.tokenizer)
        chunks = decoder.generate(fitted.prompt, images, sampling)
        with self._supervisor.running("language"):
            async with aclosing(chunks):
                while True:
                    async with engine_deadline("language decoder"):
                        chunk = await anext(chunks, None)
                    if chunk is None:
                        break
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


def _place_in_queue(before: int) -> str:
    if before == 0:
        return "Your question is the next in the queue"
    return f"In the queue: {before} question{'s' if before > 1 else ''} before yours"
