"""Images: what a person gave becomes pictures in their buckets, off the event loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, TypeVar

from backend.engines.protocols import PreparedImage
from backend.intake.album import Album
from backend.intake.decode import decode
from backend.intake.limits import intake_limits
from backend.intake.prepare import Picture, place_picture, prepare_picture
from backend.intake.preview import webp_thumbnail
from backend.intake.read import display_name
from backend.intake.reader import Reader
from backend.intake.scale import enough_pixels
from backend.placement import Fit
from backend.plan import Plan
from backend.settings import Settings
from backend.stopwatch import Stopwatch
from backend.tasks import gather_or_cancel
from backend.types import ImageInput, LoadedImage

T = TypeVar("T")

FETCHING: Final = 32
"""Addresses that are waited for at once; waiting costs no processor."""


class Images:
    """Reads, decodes and places images.

    Reading has threads of its own: a server that answers slowly must not keep anyone else's
    picture from being decoded.
    """

    def __init__(self, settings: Settings, plan: Plan) -> None:
        self._plan = plan
        self._limits = intake_limits(settings)
        self._reader = Reader(self._limits)
        self._album = Album()
        self._fetching = ThreadPoolExecutor(FETCHING, thread_name_prefix="fetch")
        self._decoding = ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="decode")

    def close(self) -> None:
        """Begin nothing more."""
        for pool in (self._fetching, self._decoding):
            pool.shutdown(wait=False, cancel_futures=True)

    async def load(
        self, inputs: Sequence[ImageInput], fit: Fit | None, watch: Stopwatch
    ) -> list[Picture]:
        """Fetch and decode every image at the same time. Raises InputError."""
        with watch.stage("fetch"):
            data = await gather_or_cancel(map(self._read, inputs))
        with watch.stage("prepare"):
            return await gather_or_cancel(
                self._run(self._decoding, self._place, image, body, fit)
                for image, body in zip(inputs, data, strict=True)
            )

    async def place(self, image: ImageInput, fit: Fit | None) -> Picture:
        """One image in its bucket. Raises InputError."""
        return await self._run(self._decoding, self._place, image, await self._read(image), fit)

    async def preview(self, image: ImageInput, side: int) -> bytes:
        """The picture as a person sees it, as a small WebP file. Raises InputError."""
        return await self._run(self._decoding, self._preview, image, await self._read(image), side)

    async def prepare(self, pictures: Sequence[Picture]) -> list[PreparedImage]:
        """The pictures at their buckets' sizes."""
        return await gather_or_cancel(
            self._run(self._decoding, prepare_picture, picture) for picture in pictures
        )

    async def _read(self, image: ImageInput) -> bytes:
        return await self._run(self._fetching, self._reader.read, image)

    def _place(self, image: ImageInput, data: bytes, fit: Fit | None) -> Picture:
        loaded = self._album.decoded(data, display_name(image), self._decode)
        return place_picture(loaded, self._plan, fit)

    def _decode(self, data: bytes, name: str) -> LoadedImage:
        return decode(data, name, self._limits, enough_pixels(self._plan.buckets))

    def _preview(self, image: ImageInput, data: bytes, side: int) -> bytes:
        loaded = decode(data, display_name(image), self._limits, (side, side))
        return webp_thumbnail(loaded.pixels, side)

    @staticmethod
    async def _run(pool: ThreadPoolExecutor, work: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, work, *args)
