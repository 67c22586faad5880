"""Depth: pictures of more than 8 bits a channel, scaled to 8 rather than clipped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PIL import Image

if TYPE_CHECKING:
    import numpy as np

BITS_PER_SAMPLE = 258
"""The TIFF tag."""

BAND = 1 << 20
"""Pixels scaled at a time, so that a large picture needs no second one of doubles beside it."""


def is_deep(image: Image.Image) -> bool:
    """Whether values go beyond 8 bits: 16-bit and 32-bit integers, and floats."""
    return image.mode in ("I", "F") or image.mode.startswith("I;16")


def to_8_bits(image: Image.Image) -> Image.Image:
    """Mode L: values of a known depth by that depth, all others by the range they span.

    NaN is black, infinities are black or white. A colour marked as transparent becomes white.
    """
    import numpy as np

    values = np.asarray(image)
    low, high = _range(image, values)
    scale = 255.0 / (high - low) if high > low else 0.0
    scaled = np.empty(values.shape, np.uint8)
    rows = max(1, BAND // max(1, image.width))
    for top in range(0, image.height, rows):
        band = values[top : top + rows].astype(np.float64)
        band = np.nan_to_num(band, nan=low, posinf=high, neginf=low)
        scaled[top : top + rows] = np.rint(np.clip((band - low) * scale, 0.0, 255.0))
    transparent = image.info.get("transparency")
    if isinstance(transparent, int):
        scaled[values == transparent] = 255
    return Image.fromarray(scaled)


def _range(image: Image.Image, values: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The values that become black and white."""
    import numpy as np

    if image.mode.startswith("I;16"):
        bits = getattr(image, "tag_v2", {}).get(BITS_PER_SAMPLE, (16,))[0]
        return 0.0, float(2**bits - 1)
    if image.mode == "I" and image.format == "PPM":
        return 0.0, 65535.0
    finite = values[np.isfinite(values)] if image.mode == "F" else values
    if finite.size == 0:
        return 0.0, 1.0
    low, high = float(finite.min()), float(finite.max())
    if image.mode == "I" and low >= 0 and 255 < high <= 65535:
        return 0.0, 65535.0
    return low, high
