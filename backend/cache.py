"""The embedding cache: least recently used first out, bounded in bytes."""

from __future__ import annotations

from collections import OrderedDict

from backend.types import Embedding


class EmbeddingCache:
    """Embeddings by digest (model, picture, bucket, fit); used from one event loop only."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[str, Embedding] = OrderedDict()
        self.nbytes = 0

    def __contains__(self, digest: str) -> bool:
        return digest in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, digest: str) -> Embedding | None:
        """The embedding, now the most recently used; None where it is not held."""
        entry = self._entries.get(digest)
        if entry is not None:
            self._entries.move_to_end(digest)
        return entry

    def put(self, digest: str, embedding: Embedding) -> None:
        """Hold it, and let the oldest go until the bytes fit; one over the bound is not held."""
        self._drop(digest)
        if embedding.nbytes > self._max_bytes:
            return
        self._entries[digest] = embedding
        self.nbytes += embedding.nbytes
        while self.nbytes > self._max_bytes:
            self._drop(next(iter(self._entries)))

    def _drop(self, digest: str) -> None:
        entry = self._entries.pop(digest, None)
        if entry is not None:
            self.nbytes -= entry.nbytes
