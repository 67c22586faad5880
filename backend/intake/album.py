"""Album: pictures decoded a while ago, found again by the bytes of their file.

A conversation sends its pictures anew with every question. To decode a photo takes a tenth of a
second, to find its bytes a few milliseconds.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import replace

from backend.cache import ByteCache
from backend.types import LoadedImage

KEEP_BYTES = 128_000_000
"""Ten photos, reduced as far as the bundled model's largest bucket lets them be."""


class Album:
    """Decoded pictures, bounded in bytes; may be used from several threads."""

    def __init__(self, max_bytes: int = KEEP_BYTES) -> None:
        self._lock = threading.Lock()
        self._pictures = ByteCache[LoadedImage](max_bytes)

    def decoded(
        self, data: bytes, name: str, decode: Callable[[bytes, str], LoadedImage]
    ) -> LoadedImage:
        """The picture in these bytes under this name, decoded now unless it is at hand.

        Its pixels are everybody's: not to be written to. What `decode` raises is passed on.
        """
        digest = hashlib.sha256(data).hexdigest()
        with self._lock:
            known = self._pictures.get(digest)
        if known:
            return replace(known, source=name)
        fresh = decode(data, name)
        with self._lock:
            self._pictures.put(digest, fresh)
        return fresh
