"""Reader: an image's bytes, and for a while those of addresses fetched before.

A conversation asks about its pictures again and again; the address of one may be slow, may be gone
by then, or may show another picture. What was fetched stands for it until it is forgotten.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from backend.intake.data_url import is_data_url
from backend.intake.limits import IntakeLimits
from backend.intake.read import read
from backend.types import ImageInput

KEEP_S = 30 * 60
KEEP_BYTES = 64_000_000


class Reader:
    """Reads images; may be used from several threads."""

    def __init__(self, limits: IntakeLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._lock = threading.Lock()
        self._fetched: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def read(self, image: ImageInput) -> bytes:
        """The bytes of the image. Blocking; raises InputError."""
        if image.origin != "url" or is_data_url(image.location.strip()):
            return read(image, self._limits)
        known = self._recall(image.location)
        if known is not None:
            return known
        data = read(image, self._limits)
        self._keep(image.location, data)
        return data

    def _recall(self, url: str) -> bytes | None:
        with self._lock:
            fetched_at, data = self._fetched.get(url, (0.0, None))
            if data is None or self._clock() - fetched_at > KEEP_S:
                return None
            return data

    def _keep(self, url: str, data: bytes) -> None:
        with self._lock:
            self._fetched.pop(url, None)
            self._fetched[url] = (self._clock(), data)
            while sum(len(body) for _, body in self._fetched.values()) > KEEP_BYTES:
                self._fetched.popitem(last=False)
