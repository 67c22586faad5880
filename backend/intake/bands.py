"""Bands: a picture cut into pieces of its full width, so that work on it needs no second one."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import Image

BAND = 1 << 20
"""Pixels of a band: a few MB in any mode, and enough that a band's own cost does not count."""


def bands(image: Image.Image, factor: int = 1) -> Iterator[tuple[int, Image.Image]]:
    """The first row of each band, and a copy of its pixels, from the top.

    All but the last have a multiple of `factor` rows, so that blocks of so many are never cut.
    """
    rows = factor * max(1, BAND // (image.width * factor))
    for top in range(0, image.height, rows):
        yield top, image.crop((0, top, image.width, min(top + rows, image.height)))
