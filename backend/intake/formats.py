"""Formats: the picture files that are read, and Pillow made ready to read them."""

from __future__ import annotations

import warnings
from functools import cache

from PIL import Image

FORMATS = (
    "JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "MPO", "PPM", "AVIF", "HEIF", "JPEG2000", "ICO",
)  # fmt: skip
READABLE = "PNG, JPEG, WebP, GIF, BMP, TIFF, ICO, PPM, AVIF, HEIC or JPEG 2000"


@cache
def readable_formats() -> tuple[str, ...]:
    """Pillow's names of the formats that may be opened; no other decoder of it is ever run.

    The first call loads Pillow's plugins and registers HEIF, both of which importing must not do.
    """
    import pillow_heif

    # Our limits are stricter than those Pillow warns of and are checked before decoding; what else
    # it warns of (odd EXIF, odd tags) is nothing a person can act on.
    warnings.filterwarnings("ignore", module="PIL")
    Image.init()
    pillow_heif.register_heif_opener(thumbnails=False, depth_images=False, aux_images=False)
    return tuple(name for name in FORMATS if name in Image.OPEN)
