"""Orientation: how a picture is turned before a person sees it."""

from __future__ import annotations

import struct

from PIL import ExifTags, Image

BROKEN_EXIF = (
    ArithmeticError,
    LookupError,
    OSError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
)

TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""From the EXIF standard's table; 1 and unknown values mean as stored."""


def read_orientation(image: Image.Image) -> int:
    """The EXIF (or XMP) orientation; 1 where there is none, or none that can be read.

    TIFF and HEIF are turned by their own decoders while they are loaded, and then say 1.
    """
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except BROKEN_EXIF:
        # A picture whose EXIF is broken is still a picture.
        return 1
    return value if value in TURNS else 1


def swaps_sides(orientation: int) -> bool:
    """Whether width and height change places."""
    return orientation >= 5


def turned(image: Image.Image, orientation: int) -> Image.Image:
    """The picture the right way up; the same object where nothing is to be done."""
    return image.transpose(TURNS[orientation]) if orientation in TURNS else image
