"""Depth: pictures of more than 8 bits a channel, scaled to 8 rather than clipped."""

from __future__ import annotations

import math

from PIL import Image

from backend.intake.bands import bands

BITS_PER_SAMPLE = 258
"""The TIFF tag."""


def is_deep(image: Image.Image) -> bool:
    """Whether values go beyond 8 bits: 16-bit and 32-bit integers, and floats."""
    return image.mode in ("I", "F") or image.mode.startswith("I;16")


def to_8_bits(image: Image.Image) -> Image.Image:
    """Mode L: values of a known depth by that depth, all others by the range they span.

    NaN is black, infinities are black or white. A colour marked as transparent becomes white.
    """
    import numpy as np

    low, high = _range(image)
    scale = 255.0 / (high - low) if high > low else 0.0
    transparent = image.info.get("transparency")
    scaled = Image.new("L", image.size)
    for top, piece in bands(image):
        values = np.asarray(piece)
        band = np.nan_to_num(values.astype(np.float64), nan=low, posinf=high, neginf=low)
        grey = np.rint(np.clip((band - low) * scale, 0.0, 255.0)).astype(np.uint8)
        if isinstance(transparent, int):
            grey[values == transparent] = 255
        scaled.paste(Image.fromarray(grey), (0, top))
    return scaled


def _range(image: Image.Image) -> tuple[float, float]:
    """The values that become black and white."""
    if image.mode.startswith("I;16"):
        bits = getattr(image, "tag_v2", {}).get(BITS_PER_SAMPLE, (16,))[0]
        return 0.0, float(2**bits - 1)
    if image.mode == "I" and image.format == "PPM":
        return 0.0, 65535.0
    low, high = _spanned(image)
    if image.mode == "I" and low >= 0 and 255 < high <= 65535:
        return 0.0, 65535.0
    return low, high


def _spanned(image: Image.Image) -> tuple[float, float]:
    """The least and the greatest finite value; 0 and 1 where there is none."""
    import numpy as np

    low, high = math.inf, -math.inf
    for _, piece in bands(image):
        values = np.asarray(piece)
        finite = values[np.isfinite(values)]
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    return (low, high) if low <= high else (0.0, 1.0)
