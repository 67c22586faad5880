"""Conversations as the server remembers them, for pages that are loaded again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

from ui.session import Attachment, Exchange

MOST_CHARACTERS = 64_000_000


Held = tuple[tuple[Exchange, ...], tuple[Attachment, ...]]
"""A conversation, and the images that wait to be sent."""


class Shelf:
    """Conversations by id, the least recently used let go first; from one event loop only.

    The id is a secret of the browser that the conversation was held in. A conversation that is
    here comes back whole, with pictures, buckets and timeline; else there is only what the browser
    kept of it.
    """

    def __init__(self, most: int = MOST_CHARACTERS) -> None:
        self._most = most
        self._held: OrderedDict[str, Held] = OrderedDict()

    def put(
        self, identity: str, exchanges: Sequence[Exchange], draft: Sequence[Attachment] = ()
    ) -> None:
        """Remember it as it now is; one without questions and images is forgotten."""
        self._held.pop(identity, None)
        if not exchanges and not draft:
            return
        self._held[identity] = (tuple(exchanges), tuple(draft))
        size = sum(map(_size, self._held.values()))
        while size > self._most:
            size -= _size(self._held.popitem(last=False)[1])

    def get(self, identity: str) -> Held | None:
        """The conversation, or None where it is not held."""
        if identity in self._held:
            self._held.move_to_end(identity)
        return self._held.get(identity)


def _size(held: Held) -> int:
    """Characters that a conversation takes."""
    exchanges, draft = held
    items = [item for exchange in exchanges for item in exchange.attachments] + list(draft)
    texts = [exchange.result.text for exchange in exchanges if exchange.result]
    return (
        sum(len(exchange.prompt) for exchange in exchanges)
        + sum(map(len, texts))
        + sum(len(item.thumbnail) + len(item.image.location) for item in items)
    )
