"""Album: pictures decoded a while ago, found again by the bytes of their file.

A conversation sends its pictures anew with every question. To decode a photo takes a tenth of a
second, to find its bytes a few milliseconds.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace

from backend.types import LoadedImage

KEEP_BYTES = 128_000_000
"""Ten photos, reduced as far as the bundled model's largest bucket lets them be."""
PIXEL_BYTES = 4
"""What Pillow takes for a pixel of RGB."""


class Album:
    """Decoded pictures, least recently used first out; may be used from several threads."""

    def __init__(self, max_bytes: int = KEEP_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._entries: OrderedDict[bytes, LoadedImage] = OrderedDict()
        self._nbytes = 0

    def decoded(
        self, data: bytes, name: str, decode: Callable[[bytes, str], LoadedImage]
    ) -> LoadedImage:
        """The picture in these bytes under this name, decoded now unless it is at hand.

        Its pixels are everybody's: not to be written to. What `decode` raises is passed on.
        """
        key = hashlib.sha256(data).digest()
        with self._lock:
            known = self._entries.get(key)
            if known is not None:
                self._entries.move_to_end(key)
                return replace(known, source=name)
        fresh = decode(data, name)
        with self._lock:
            self._keep(key, fresh)
        return fresh

    def _keep(self, key: bytes, image: LoadedImage) -> None:
        if _nbytes(image) > self._max_bytes:
            return
        self._forget(key)
        self._entries[key] = image
        self._nbytes += _nbytes(image)
        while self._nbytes > self._max_bytes:
            self._forget(next(iter(self._entries)))

    def _forget(self, key: bytes) -> None:
        image = self._entries.pop(key, None)
        if image is not None:
            self._nbytes -= _nbytes(image)


def _nbytes(image: LoadedImage) -> int:
    return image.pixels.width * image.pixels.height * PIXEL_BYTES
