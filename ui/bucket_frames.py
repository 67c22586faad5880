"""The original beside what the encoder sees, both to one scale."""

from __future__ import annotations

from html import escape
from math import sqrt

from backend.placement import PlacedImage, Placement

TALLEST = 200
"""Pixels of the page that the taller of the two frames may take."""

OBJECT_FIT = {"stretch": "fill", "pad": "contain", "crop": "cover"}


def before_and_after(thumbnail: str, placed: PlacedImage, number: int) -> str:
    """Two figures; the second has the bucket's frame, and the grid of visual tokens over it."""
    placement = placed.placement
    bucket = placement.bucket
    wide, tall = placed.width + bucket.width, max(placed.height, bucket.height)
    given = f"Image {number} as given, {placed.height} by {placed.width} pixels"
    before = _frame(thumbnail, given, placed.height, placed.width, (wide, tall), "fill", "")
    after = _frame(
        thumbnail, f"Image {number} as the encoder sees it, {in_words(placement)}",
        bucket.height, bucket.width, (wide, tall), OBJECT_FIT[placement.fit], _grid(placement),
    )  # fmt: skip
    return (
        f'<div class="bf-frames"><figure>{before}<figcaption>as given</figcaption></figure>'
        f'<figure class="bf-seen">{after}<figcaption>{_caption(placement)}</figcaption></figure>'
        "</div>"
    )


def in_words(placement: Placement) -> str:
    """The encoder's picture for those who cannot see it."""
    bucket = placement.bucket
    done = {"stretch": "stretched to", "pad": "inside a border of", "crop": "its middle at"}
    size = f"{done[placement.fit]} {bucket.height} by {bucket.width} pixels"
    if not bucket.tokens:
        return size
    rows, columns = cells(placement)
    return f"{size}, {round(rows)} by {round(columns)} visual tokens"


def cells(placement: Placement) -> tuple[float, float]:
    """Rows and columns of visual tokens over the whole picture, without those of a thumbnail."""
    bucket, tiles = placement.bucket, placement.tiles
    area, count = bucket.height * bucket.width, bucket.tokens
    if tiles:
        area, count = tiles.side**2, tiles.tokens
    side = sqrt(area / count)
    return bucket.height / side, bucket.width / side


def _caption(placement: Placement) -> str:
    if not placement.bucket.tokens:
        return "as encoded"
    rows, columns = cells(placement)
    return f"as encoded <span>{rows:.0f} &times; {columns:.0f} tokens</span>"


def _grid(placement: Placement) -> str:
    if not placement.bucket.tokens:
        return ""
    rows, columns = cells(placement)
    grid = f"--columns:{columns:.3f};--rows:{rows:.3f}"
    if placement.tiles and placement.tiles.rows * placement.tiles.columns > 1:
        grid += f";--tile-columns:{placement.tiles.columns};--tile-rows:{placement.tiles.rows}"
    return grid


def _frame(
    src: str, alt: str, height: int, width: int, room: tuple[int, int], fit: str, grid: str
) -> str:
    """`room` is the width of both pictures and the height of the taller, which set the scale."""
    wide, tall = room
    across, pixels = 100 * width / wide, TALLEST * width / tall
    size = f"--share:{across / 100:.4f};--most:{pixels:.1f}px;aspect-ratio:{width}/{height};{grid}"
    kinds = ["bf-frame"]
    kinds += ["bf-grid"] if grid else []
    kinds += ["bf-tiled"] if "--tile-rows" in grid else []
    if not src:
        return (
            f'<span class="{" ".join(kinds)}" style="{size}" role="img" aria-label="{alt}"></span>'
        )
    picture = f'<img src="{escape(src)}" alt="{escape(alt)}" style="object-fit:{fit}">'
    return f'<span class="{" ".join(kinds)}" style="{size}">{picture}</span>'
