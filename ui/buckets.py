"""The bucket panel: where each image was placed, what that did to it, and why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from math import sqrt

from backend.types import Bucket, Candidate, PlacedImage
from ui.session import Attachment

WARN_ABOVE = 1.15
"""An aspect changed by more than this is worth a warning: shapes begin to look different."""

EMPTY = (
    '<p class="bf-empty">Add a picture to see which compiled size it is given, how many visual'
    " tokens that costs, and what it does to the picture&rsquo;s shape.</p>"
)


def panel(
    items: Sequence[Attachment], answered: Iterable[PlacedImage] = (), under_way: bool = False
) -> str:
    """Every image of the conversation; those in `answered` as the answer saw them.

    While an answer is `under_way` it is not said that an image has been encoded.
    """
    head = '<h2 class="bf-h">Resolution buckets{}</h2>'
    if not items:
        return head.format("") + EMPTY
    head = head.format(" <small>height &times; width, in pixels</small>")
    seen = {placed.sha256: placed for placed in answered}
    cards = [
        _card(item, seen.get(item.placed.sha256), number, under_way)
        for number, item in enumerate(items, 1)
    ]
    return head + f'<ol class="bf-buckets">{"".join(cards)}</ol>'


def _card(item: Attachment, answered: PlacedImage | None, number: int, under_way: bool) -> str:
    placed = answered or item.placed
    bucket = placed.placement.bucket
    name = escape(placed.source)
    notes = "".join(f"<li>{escape(note)}</li>" for note in placed.notes)
    return (
        f'<li class="bf-bucket"><header><h3>Image {number}</h3>'
        f'<span class="bf-name" title="{name}">{name}</span>{_badge(answered, under_way)}</header>'
        f"{_before_after(item, placed)}"
        f"<dl>{_fact('Original', f'{placed.height} &times; {placed.width}')}"
        f"{_fact('Compiled for', _pair(bucket))}"
        f"{_fact('Snapped to', f'{bucket.height} &times; {bucket.width}')}"
        f"{_fact('Visual tokens', f'{bucket.tokens:,}')}</dl>"
        f"{_shape(placed)}{f'<ul class=bf-notes>{notes}</ul>' if notes else ''}{_why(placed)}</li>"
    )


def _badge(answered: PlacedImage | None, under_way: bool) -> str:
    if answered is None or (under_way and not answered.cached):
        return ""
    if answered.cached:
        return '<span class="bf-badge bf-cached">embedding reused</span>'
    return '<span class="bf-badge">encoded</span>'


def _pair(bucket: Bucket) -> str:
    return f"{bucket.compiled[0]} &times; {bucket.compiled[1]}" if bucket.compiled else "any size"


def _fact(name: str, value: str) -> str:
    return f"<div><dt>{name}</dt><dd>{value}</dd></div>"


def _before_after(item: Attachment, placed: PlacedImage) -> str:
    """The picture as it is and as the encoder gets it, both frames to the same scale."""
    bucket = placed.placement.bucket
    widest = max(placed.width + bucket.width, 1)
    tallest = max(placed.height, bucket.height, 1)
    # Both frames and the gap between them fit 300 x 150; a frame is never thinner than 24 pixels,
    # because a photograph beside its bucket would otherwise leave a bucket too small to see.
    scale = min(268 / widest, 150 / tallest)
    cell = sqrt(bucket.height * bucket.width / max(bucket.tokens, 1))
    columns, rows = bucket.width / cell, bucket.height / cell
    fit = "contain" if placed.placement.fit == "pad" else "fill"
    before = _frame(item.thumbnail, placed.width * scale, placed.height * scale, "fill", "")
    grid = f"--columns:{columns:.3f};--rows:{rows:.3f}"
    after = _frame(item.thumbnail, bucket.width * scale, bucket.height * scale, fit, grid)
    return (
        f'<div class="bf-frames" aria-hidden="true"><figure>{before}<figcaption>as given'
        f"</figcaption></figure><span>→</span><figure>{after}<figcaption>as encoded</figcaption>"
        "</figure></div>"
    )


def _frame(src: str, width: float, height: float, fit: str, grid: str) -> str:
    picture = f'<img src="{escape(src)}" alt="" style="object-fit:{fit}">' if src else ""
    kind = "bf-frame bf-grid" if grid else "bf-frame"
    size = f"width:{max(width, 24):.0f}px;height:{max(height, 24):.0f}px"
    return f'<span class="{kind}" style="{size};{grid}">{picture}</span>'


def shape_words(aspect_change: float, fit: str) -> str:
    """What happened to the picture's shape, in plain words."""
    if fit == "pad":
        return "Shape kept; the rest of the bucket is filled with a plain border."
    factor = max(aspect_change, 1 / aspect_change) if aspect_change > 0 else 1.0
    if factor < 1.005:
        return "Shape kept exactly."
    side = "wider" if aspect_change > 1 else "taller"
    if factor <= WARN_ABOVE:
        return f"Shape nearly kept: stretched {(factor - 1) * 100:.0f} % {side}."
    return f"Stretched {factor:.2g}&times; {side}."


def _shape(placed: PlacedImage) -> str:
    placement = placed.placement
    words = shape_words(placement.aspect_change, placement.fit)
    factor = max(placement.aspect_change, 1 / max(placement.aspect_change, 1e-9))
    if placement.fit == "pad" or factor <= WARN_ABOVE:
        return f'<p class="bf-shape">{words}</p>'
    return (
        f'<p class="bf-shape bf-warn"><b>{words}</b> Proportions and small details may be misread;'
        " the fit “pad” in the settings keeps the shape.</p>"
    )


def _why(placed: PlacedImage) -> str:
    placement = placed.placement
    if not placement.candidates:
        return f'<p class="bf-why">{escape(placement.why)}</p>' if placement.why else ""
    rows = "".join(_candidate(candidate) for candidate in placement.candidates)
    return (
        f"<details><summary>Why this bucket?</summary><p>{escape(placement.why)}</p>"
        '<div class="bf-scroll"><table><thead><tr><th scope="col">Bucket</th>'
        '<th scope="col">Tokens</th><th scope="col">Pixels kept</th><th scope="col">Pixels idle'
        f"</th></tr></thead><tbody>{rows}</tbody></table></div></details>"
    )


def _candidate(candidate: Candidate) -> str:
    bucket = candidate.bucket
    mark = ' <span class="bf-chosen">chosen</span>' if candidate.chosen else ""
    kind = ' class="bf-won"' if candidate.chosen else ""
    return (
        f'<tr{kind}><th scope="row">{bucket.height} &times; {bucket.width}{mark}</th>'
        f"<td>{bucket.tokens:,}</td><td>{candidate.effective_pixels:,}</td>"
        f"<td>{candidate.wasted_pixels:,}</td></tr>"
    )
