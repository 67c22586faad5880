"""Scale: no more pixels than the resize into a bucket can make use of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PIL import Image

from backend.types import Bucket

AVERAGED = ("L", "RGB", "RGBX", "CMYK", "YCbCr", "LA", "RGBA")
"""Modes whose values may be averaged as they are."""

MARGIN = 1.5
"""Times the largest bucket that reduced pixels still have each way, so that the bicubic resize that
follows decides how the picture looks. A photo of 12 megapixels then differs by 0.3 of 255 levels on
average from one that was resized in a single step."""


def enough_pixels(buckets: Sequence[Bucket]) -> tuple[int, int] | None:
    """The width and height that pictures need for these buckets.

    None where a family's own processor does the resizing: it is given the picture as it is.
    """
    if not buckets or any(bucket.compiled is None for bucket in buckets):
        return None
    width = max(bucket.width for bucket in buckets)
    height = max(bucket.height for bucket in buckets)
    return math.ceil(MARGIN * width), math.ceil(MARGIN * height)


def draft(image: Image.Image, enough: tuple[int, int] | None) -> None:
    """Have a JPEG decoded at a half, a quarter or an eighth, not below `enough` (width, height).

    Other formats cannot; they are left alone.
    """
    if enough:
        image.draft(None, enough)


def reduced(image: Image.Image, enough: tuple[int, int] | None) -> Image.Image:
    """Whole blocks of pixels averaged, not below `enough` (width, height).

    The same object where nothing is gained, or where the mode has to be converted first.
    """
    if not enough or image.mode not in AVERAGED or "transparency" in image.info:
        return image
    factor = min(image.width // enough[0], image.height // enough[1])
    return image.reduce(factor) if factor > 1 else image
