"""Scale: no more pixels than the resize into a bucket can make use of."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PIL import Image

from backend.intake.bands import bands
from backend.intake.colour import rgb_converter
from backend.intake.depth import is_deep, to_8_bits
from backend.placement import Bucket

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


def rgb_reduced(image: Image.Image, enough: tuple[int, int] | None) -> Image.Image:
    """A loaded picture as sRGB, blocks of pixels averaged, not below `enough` (width, height).

    Without `enough` it has all its pixels. It is made band by band: converted as a whole, a picture
    would be in memory in three or four modes at the same time, not yet reduced.
    """
    profile = image.info.get("icc_profile")
    if is_deep(image):
        image = to_8_bits(image)
    factor = _factor(image.size, enough)
    # The transparent colour of a file is one value, which no average of others may become.
    averaged = image.mode in AVERAGED and "transparency" not in image.info
    convert = rgb_converter(image, profile)
    done = Image.new("RGB", (-(-image.width // factor), -(-image.height // factor)))
    for top, piece in bands(image, factor):
        if factor > 1 and averaged:
            piece = convert(piece.reduce(factor))
        elif factor > 1:
            piece = convert(piece).reduce(factor)
        else:
            piece = convert(piece)
        done.paste(piece, (0, top // factor))
    return done


def _factor(size: tuple[int, int], enough: tuple[int, int] | None) -> int:
    return max(1, min(size[0] // enough[0], size[1] // enough[1])) if enough else 1
