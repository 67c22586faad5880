"""A cache bounded in bytes, least recently used first out: of embeddings, of decoded pictures."""

from __future__ import annotations

from collections import OrderedDict
from typing import Generic, Protocol, TypeVar


class Weighed(Protocol):
    """What knows the bytes it holds."""

    @property
    def nbytes(self) -> int:
        """Bytes."""
        ...


Entry = TypeVar("Entry", bound=Weighed)


class ByteCache(Generic[Entry]):
    """Entries by digest; used from one event loop only, or under a lock."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, Entry] = OrderedDict()
        self.nbytes = 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, digest: str) -> Entry | None:
        """The entry, now the most recently used; None where it is not held."""
        entry = self._entries.get(digest)
        if entry is not None:
            self._entries.move_to_end(digest)
        return entry

    def put(self, digest: str, entry: Entry) -> None:
        """Hold it, and let the oldest go until the bytes fit; one over the bound is not held."""
        self._drop(digest)
        if entry.nbytes > self._max_bytes:
            return
        self._entries[digest] = entry
        self.nbytes += entry.nbytes
        while self.nbytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, digest: str) -> None:
        entry = self._entries.pop(digest, None)
        if entry is not None:
            self.nbytes -= entry.nbytes
