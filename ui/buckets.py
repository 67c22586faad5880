"""The bucket panel: what became of each image, what that costs, what it loses, and why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from backend.placement import Bucket, Loss, PlacedImage
from ui import bucket_frames, bucket_table
from ui.render import pair
from ui.session import Attachment

PAD = "fit “pad”"
"""In the words of `backend.losses`."""

_FLAG = re.compile(r"--[a-z-]+")

EMPTY = (
    '<p class="bf-empty">Add a picture to see which compiled size it is given, how many visual'
    " tokens that costs, and what it does to the picture&rsquo;s shape.</p>"
)


def panel(
    items: Sequence[Attachment],
    ctx_len: int,
    answered: Iterable[PlacedImage] = (),
    under_way: bool = False,
    numbers: Sequence[int] = (),
) -> str:
    """Every image of the conversation; those in `answered` as the answer saw them, unless another
    fit has been chosen since, which the next question will have them in.

    `numbers` are the images' in the conversation, where some are missing.

    `ctx_len` is the context in tokens. While an answer is `under_way` it is not said that an image
    has been encoded.
    """
    head = '<h2 class="bf-h">Resolution buckets{}</h2>'
    if not items:
        return head.format("") + EMPTY
    head = head.format(" <small>height &times; width, in pixels</small>")
    seen = {(placed.sha256, placed.placement.fit): placed for placed in answered}
    met = [seen.get((item.placed.sha256, item.placed.placement.fit)) for item in items]
    shown = [placed or item.placed for item, placed in zip(items, met, strict=True)]
    badges = [_badge(placed, under_way) for placed in met]
    cards = [
        _card(item, placed, number, ctx_len, badge, key)
        for number, item, placed, badge, key in zip(
            numbers or range(1, len(items) + 1), items, shown, badges, _keys(shown), strict=True
        )
    ]
    return f'{head}{_budget(shown, ctx_len)}<ol class="bf-buckets">{"".join(cards)}</ol>'


def _keys(shown: Sequence[PlacedImage]) -> list[str]:
    """A name for each image that outlives a redrawing, told apart where one is there twice."""
    repeats: Counter[str] = Counter()
    keys = []
    for placed in shown:
        repeats[placed.sha256] += 1
        keys.append(f"{placed.sha256[:16]}-{repeats[placed.sha256]}")
    return keys


def _budget(shown: Sequence[PlacedImage], ctx_len: int) -> str:
    """How much of the context all images take together."""
    used = [placed.placement.bucket.tokens for placed in shown]
    if not all(used):
        return '<p class="bf-budget">How many tokens the images take is known once asked.</p>'
    parts = "".join(f'<i style="flex-grow:{tokens}"></i>' for tokens in used)
    rest = max(ctx_len - sum(used), 0)
    over = " Together they do not fit: the oldest are left out." if sum(used) >= ctx_len else ""
    what = "image takes" if len(used) == 1 else "images take"
    return (
        f'<p class="bf-budget">{len(used)} {what} <b>{sum(used):,} of {ctx_len:,} tokens</b> of the'
        f" context.{over}</p>"
        f'<div class="bf-meter" aria-hidden="true">{parts}<s style="flex-grow:{rest}"></s></div>'
    )


def _card(
    item: Attachment, placed: PlacedImage, number: int, ctx_len: int, badge: str, key: str
) -> str:
    bucket = placed.placement.bucket
    name = escape(placed.source)
    notes = "".join(f"<li>{escape(note)}</li>" for note in placed.notes)
    return (
        f'<li class="bf-bucket"><header><h3>Image {number}</h3>'
        f'<span class="bf-name" title="{name}">{name}</span>{badge}</header>'
        f"{_toggle(number, key)}{bucket_frames.before_and_after(item.thumbnail, placed, number)}"
        f"<dl>{_fact('Original', pair(placed.height, placed.width))}"
        f"{_fact(*_target(placed))}{_fact('Encoded at', _size(bucket)) if bucket.compiled else ''}"
        f"{_fact('Visual tokens', _tokens(bucket, ctx_len))}</dl>"
        f"{_shape(placed)}{_warnings(placed.placement.losses)}"
        f"{f'<ul class=bf-notes>{notes}</ul>' if notes else ''}"
        f"{bucket_table.why(placed.placement, ctx_len, number, key)}</li>"
    )


def _toggle(number: int, key: str) -> str:
    return (
        f'<label class="bf-see"><input type="checkbox" checked data-keep="see-{key}"'
        f' aria-label="Show what the encoder sees of image {number}">'
        "<span>Show what the encoder sees</span></label>"
    )


def _badge(answered: PlacedImage | None, under_way: bool) -> str:
    if answered is None or (under_way and not answered.cached):
        return ""
    if answered.cached:
        return '<span class="bf-badge bf-cached">embedding reused</span>'
    return '<span class="bf-badge">encoded</span>'


def _target(placed: PlacedImage) -> tuple[str, str]:
    """Name and value of the size that was aimed at."""
    bucket, tiles = placed.placement.bucket, placed.placement.tiles
    if bucket.compiled:
        return "Bucket", pair(*bucket.compiled)
    if tiles:
        extra = " <small>and a thumbnail</small>" if tiles.thumbnail else ""
        return "Tiles", f"{tiles.rows} &times; {tiles.columns} of {tiles.side}{extra}"
    return "Becomes", _size(bucket) if bucket.tokens else "the model&rsquo;s own size"


def _size(bucket: Bucket) -> str:
    return pair(bucket.height, bucket.width)


def _tokens(bucket: Bucket, ctx_len: int) -> str:
    if not bucket.tokens:
        return "known once asked"
    return f"{bucket.tokens:,} <small>of {ctx_len:,}</small>"


def _fact(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>"


def shape_words(placed: PlacedImage) -> str:
    """What happened to the picture's shape where that is no reason to warn."""
    placement = placed.placement
    if placement.fit == "pad":
        return "Shape kept; the rest of the bucket is filled with a plain border."
    change = placement.aspect_change
    percent = (max(change, 1 / change) - 1) * 100
    if percent < 0.5:
        return "Shape kept exactly." if percent < 0.05 else "Shape kept."
    return f"Shape nearly kept: stretched {percent:.0f} % {'wider' if change > 1 else 'taller'}."


def _shape(placed: PlacedImage) -> str:
    placement = placed.placement
    told = any(loss.kind in ("shape", "edges") for loss in placement.losses)
    if told or not placement.bucket.tokens:
        return ""
    return f'<p class="bf-shape">{shape_words(placed)}</p>'


def _warnings(losses: Sequence[Loss]) -> str:
    lines = [f"<li><b>{escape(loss.what)}:</b> {_advice(loss)}</li>" for loss in losses]
    return f'<ul class="bf-warnings" aria-label="Warnings">{"".join(lines)}</ul>' if lines else ""


def _advice(loss: Loss) -> str:
    """Flags in it as code, which is not broken at their dashes; the fit leads to its setting."""
    flagged = _FLAG.sub(r"<code>\g<0></code>", escape(loss.advice))
    return flagged.replace(PAD, f'<button type="button" class="bf-go" data-go="pad">{PAD}</button>')
