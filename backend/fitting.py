"""Fitting a picture into its bucket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backend.placement import Bucket, Shaping

if TYPE_CHECKING:
    from PIL.Image import Image

PAD_COLOUR = (127, 127, 127)
"""Mid grey: close to zero once normalised."""


def fit_into(pixels: Image, bucket: Bucket, fit: Shaping) -> Image:
    """The picture at exactly the bucket's size, stretched or letterboxed; blocking."""
    from PIL import Image as PIL
    from PIL import ImageOps

    size = (bucket.width, bucket.height)
    if fit == "pad":
        return ImageOps.pad(pixels, size, PIL.Resampling.BICUBIC, color=PAD_COLOUR)
    return pixels if pixels.size == size else pixels.resize(size, PIL.Resampling.BICUBIC)
