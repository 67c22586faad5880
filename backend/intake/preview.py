"""A small copy of a picture for showing."""

from __future__ import annotations

import io

from PIL.Image import Image


def webp_thumbnail(pixels: Image, side: int) -> bytes:
    """The picture as WebP, its longer side at most `side` pixels; blocking."""
    small = pixels.copy()
    small.thumbnail((side, side))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=80)
    return out.getvalue()
