"""The pictures that are about to be sent, purely: numbered, each to be moved or removed."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ui.render import pair, picture
from ui.session import Attachment


def tray(items: Sequence[Attachment], first: int) -> str:
    """Thumbnails in the order in which the model will see them, numbered from `first`."""
    if not items:
        return ""
    rows = "".join(
        _thumb(item, first + index, index, len(items)) for index, item in enumerate(items)
    )
    return f'<ol class="bf-thumbs" aria-label="Images to be sent">{rows}</ol>'


def moved(items: Sequence[Attachment], start: int, end: int) -> list[Attachment]:
    """The same pictures, one of them in another place. Places that are not there change nothing."""
    places = range(len(items))
    order = list(items)
    if start in places and end in places:
        order.insert(end, order.pop(start))
    return order


def _thumb(item: Attachment, number: int, index: int, count: int) -> str:
    which = f"image {number} ({escape(item.placed.source)})"
    remove = (
        f'<button type="button" class="bf-remove" data-remove="{index}"'
        f' aria-label="Remove {which}"><span aria-hidden="true">&times;</span></button>'
    )
    hint = _bucket(item)
    if count == 1:
        return f'<li class="bf-thumb">{picture(item, number, hint=hint)}{remove}</li>'
    ways = (("earlier", index - 1, "&lsaquo;"), ("later", index + 1, "&rsaquo;"))
    movers = "".join(
        f'<button type="button" data-way="{way}" data-from="{index}" data-to="{to}"'
        f' aria-label="Move {which} {way}"{"" if 0 <= to < count else " disabled"}>'
        f'<span aria-hidden="true">{arrow}</span></button>'
        for way, to, arrow in ways
    )
    return (
        f'<li class="bf-thumb" data-place="{index}" draggable="true">'
        f'{picture(item, number, hint=hint)}<span class="bf-movers">{movers}</span>{remove}</li>'
    )


def _bucket(item: Attachment) -> str:
    """The bucket that it was given, where there are compiled ones."""
    compiled = item.placed.placement.bucket.compiled
    return f" <small>&rarr; {pair(*compiled)}</small>" if compiled else ""
