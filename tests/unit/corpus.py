"""The corpus of picture files: each is made in memory, and what a person sees is written down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from PIL import Image, ImageCms

from .pictures import BLACK, BLUE, GREEN, RED, WHITE, icon, many_frames, quarters, saved
from .profiles import (
    ADOBE_RGB,
    DISPLAY_P3,
    SRGB,
    grey_profile,
    matrix_profile,
    odd_ink_profile,
)

Colour = tuple[int, int, int]
Pixels = Mapping[tuple[int, int], Colour]

QUARTERS: Pixels = {(4, 4): RED, (59, 4): GREEN, (4, 43): BLUE, (59, 43): WHITE}
WARM, SIDE = (200, 100, 50), (16, 16)


@dataclass(frozen=True)
class Seen:
    """A file and what is to be seen: size, some pixels within a tolerance, a word of its note."""

    name: str
    make: Callable[[], bytes]
    pixels: Pixels = field(default_factory=lambda: QUARTERS)
    tolerance: int = 0
    size: tuple[int, int] = (64, 48)
    note: str = ""


def picture(kind: str, mode: str = "RGB", **options: Any) -> Callable[[], bytes]:
    """The four quarters as a file."""

    def make() -> bytes:
        return saved(quarters().convert(mode), kind, **options)

    return make


def plain(mode: str, colour: Any, kind: str, **options: Any) -> Callable[[], bytes]:
    """One colour all over."""
    return lambda: saved(Image.new(mode, SIDE, colour), kind, **options)


def one(colour: Colour) -> Pixels:
    return {(0, 0): colour, (8, 8): colour, (15, 15): colour}


def values(rows: Any, kind: str, dtype: Any, **options: Any) -> Callable[[], bytes]:
    """A row of greyscale values."""
    return lambda: saved(Image.fromarray(np.array([rows], dtype=dtype)), kind, **options)


def greys(*levels: int) -> Pixels:
    return {(x, 0): (level,) * 3 for x, level in enumerate(levels)}  # type: ignore[misc]


def turned(kind: str, orientation: int, how: Image.Transpose) -> Callable[[], bytes]:
    """Stored so that this EXIF orientation puts it right."""

    def make() -> bytes:
        exif = Image.Exif()
        exif[0x0112] = orientation
        return saved(quarters().transpose(how), kind, exif=exif.tobytes(), quality=95)

    return make


def palette(*colours: Colour) -> Image.Image:
    image = Image.new("P", SIDE, 0)
    image.putpalette([value for colour in colours for value in colour])
    image.paste(1, (8, 0, 16, 16))
    return image


def lab() -> bytes:
    space = ImageCms.createProfile("LAB"), ImageCms.createProfile("sRGB")
    transform = ImageCms.buildTransform(space[1], space[0], "RGB", "LAB")
    return saved(ImageCms.applyTransform(Image.new("RGB", SIDE, WARM), transform), "TIFF")


def masked() -> bytes:
    image = Image.new("RGB", SIDE, RED)
    image.paste(BLUE, (8, 0, 16, 16))
    return saved(image, transparency=RED)


def large_photo() -> bytes:
    """5 megapixels lying on their side, which intake decodes at a half."""
    stored = quarters(1920, 2600).transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6
    return saved(stored, "JPEG", exif=exif, quality=90)


NAN, INF = float("nan"), float("inf")
TURN, MIRROR = Image.Transpose.ROTATE_90, Image.Transpose.FLIP_LEFT_RIGHT
HALVES: Pixels = {(0, 0): WHITE, (7, 15): WHITE, (8, 0): BLUE, (15, 15): BLUE}
THROUGH_16 = greys(0, 64, 128, 255)
OF_16 = [0, 257 * 64, 257 * 128, 65535]
FIRST = {"pixels": one(RED), "size": SIDE, "note": "first"}

SEEN = (
    # Formats
    Seen("png", picture("PNG")),
    Seen("jpeg", picture("JPEG", quality=95, subsampling=0), tolerance=8),
    Seen("jpeg-progressive", picture("JPEG", quality=95, progressive=True), tolerance=8),
    Seen("webp", picture("WEBP", quality=90), tolerance=12),
    Seen("webp-lossless", picture("WEBP", lossless=True)),
    Seen("gif", picture("GIF")),
    Seen("bmp", picture("BMP")),
    Seen("bmp-palette", picture("BMP", "P")),
    Seen("tiff", picture("TIFF")),
    Seen("tiff-lzw", picture("TIFF", compression="tiff_lzw")),
    Seen("tiff-jpeg", picture("TIFF", compression="jpeg", quality=95), tolerance=12),
    Seen("avif", picture("AVIF", quality=95), tolerance=12),
    Seen("heic", picture("HEIF", quality=95), tolerance=12),
    Seen("jpeg2000", picture("JPEG2000"), tolerance=2),
    Seen("ppm", picture("PPM")),
    Seen("ico", picture("ICO", sizes=[(64, 48)])),
    Seen("ico-bmp", picture("ICO", sizes=[(64, 48)], bitmap_format="bmp")),
    Seen("mpo", lambda: many_frames("MPO", quarters(), BLUE), tolerance=20),
    # Modes
    Seen("png-palette", picture("PNG", "P")),
    Seen("grey", plain("L", 100, "PNG"), one((100,) * 3), size=SIDE),
    Seen("grey-jpeg", plain("L", 100, "JPEG"), one((100,) * 3), 2, SIDE),
    Seen("bilevel-png", plain("1", 1, "PNG"), one(WHITE), size=SIDE),
    Seen("bilevel-fax", plain("1", 0, "TIFF", compression="group4"), one(BLACK), size=SIDE),
    Seen("bilevel-pbm", plain("1", 1, "PPM"), one(WHITE), size=SIDE),
    Seen("ycbcr-tiff", lambda: saved(Image.new("RGB", SIDE, WARM).convert("YCbCr"), "TIFF",
                                     compression="tiff_lzw", tiffinfo={530: (1, 1)}),
         one(WARM), 2, SIDE),
    Seen("lab-tiff", lab, one(WARM), 4, SIDE),
    # Transparency is over white
    Seen("rgba", plain("RGBA", (0, 0, 0, 51), "PNG"), one((204,) * 3), size=SIDE),
    Seen("rgba-hidden", plain("RGBA", (255, 0, 0, 0), "PNG"), one(WHITE), size=SIDE),
    Seen("rgba-webp", plain("RGBA", (255, 0, 0, 0), "WEBP"), one(WHITE), size=SIDE),
    Seen("rgba-avif", plain("RGBA", (255, 0, 0, 0), "AVIF"), one(WHITE), 2, SIDE),
    Seen("rgba-heic", picture("HEIF", "RGBA", quality=95), tolerance=12),
    Seen("grey-alpha", plain("LA", (0, 51), "PNG"), one((204,) * 3), size=SIDE),
    Seen("palette-alpha", lambda: saved(palette(RED, BLUE), transparency=bytes([0, 255])), HALVES,
         size=SIDE),
    Seen("gif-transparent", lambda: saved(palette(RED, BLUE), "GIF", transparency=0), HALVES,
         size=SIDE),
    Seen("rgb-masked", masked, HALVES, size=SIDE),
    Seen("grey-masked", plain("L", 7, "PNG", transparency=7), one(WHITE), size=SIDE),
    Seen("grey-16-masked", values(OF_16, "PNG", np.uint16, transparency=0),
         greys(255, 64, 128, 255), 1, (4, 1)),
    # Depth is scaled, not clipped
    Seen("png-16", values(OF_16, "PNG", np.uint16), THROUGH_16, 1, (4, 1)),
    Seen("tiff-16", values(OF_16, "TIFF", np.uint16), THROUGH_16, 1, (4, 1)),
    Seen("jpeg2000-16", lambda: saved(Image.fromarray(np.full(SIDE, 257 * 64, np.uint16)),
                                      "JPEG2000"), one((64,) * 3), 1, SIDE),
    Seen("pgm-16", values(OF_16, "PPM", np.int32), THROUGH_16, 1, (4, 1)),
    Seen("pgm-16-dark", values([0, 255], "PPM", np.int32), greys(0, 1), 0, (2, 1)),
    Seen("tiff-32", values([0, 50_000, 100_000], "TIFF", np.int32), greys(0, 127, 255), 1, (3, 1)),
    Seen("tiff-float", values([-1.0, 0.0, 1.0], "TIFF", np.float32), greys(0, 127, 255), 1, (3, 1)),
    Seen("tiff-float-nan", values([NAN, 0.0, INF, 4.0, 2.0, -INF], "TIFF", np.float32),
         greys(0, 0, 255, 255, 127, 0), 1, (6, 1)),
    Seen("tiff-float-all-nan", values([NAN, NAN], "TIFF", np.float32), greys(0, 0), 0, (2, 1)),
    Seen("tiff-float-huge", values([-3e38, 0.0, 3e38], "TIFF", np.float32), greys(0, 127, 255), 1,
         (3, 1)),
    # Colour spaces are brought to sRGB
    Seen("p3-jpeg", plain("RGB", WARM, "JPEG", quality=100, subsampling=0,
                          icc_profile=matrix_profile(DISPLAY_P3)), one((215, 93, 31)), 4, SIDE),
    Seen("p3-png", plain("RGB", WARM, "PNG", icc_profile=matrix_profile(DISPLAY_P3)),
         one((215, 93, 31)), 1, SIDE),
    Seen("p3-rgba", plain("RGBA", (*WARM, 255), "PNG", icc_profile=matrix_profile(DISPLAY_P3)),
         one((215, 93, 31)), 1, SIDE),
    Seen("adobe-rgb", plain("RGB", WARM, "TIFF", icc_profile=matrix_profile(ADOBE_RGB, 563 / 256)),
         one((227, 100, 42)), 1, SIDE),
    Seen("srgb-profile", plain("RGB", WARM, "WEBP", lossless=True,
                               icc_profile=matrix_profile(SRGB)), one(WARM), 0, SIDE),
    Seen("grey-linear", plain("L", 100, "PNG", icc_profile=grey_profile(1.0)), one((168,) * 3), 1,
         SIDE),
    Seen("grey-with-rgb-profile", plain("L", 100, "JPEG", icc_profile=matrix_profile(DISPLAY_P3)),
         one((100,) * 3), 2, SIDE),
    Seen("profile-broken", plain("RGB", WARM, "PNG", icc_profile=b"no profile" * 20), one(WARM), 0,
         SIDE),
    Seen("profile-cut", plain("RGB", WARM, "PNG", icc_profile=matrix_profile(DISPLAY_P3)[:200]),
         one(WARM), 0, SIDE),
    Seen("profile-of-ink", plain("RGB", WARM, "PNG", icc_profile=odd_ink_profile()), one(WARM), 0,
         SIDE),
    Seen("cmyk-jpeg", plain("CMYK", (0, 255, 255, 0), "JPEG"), one(RED), 6, SIDE),
    Seen("cmyk-tiff", plain("CMYK", (0, 255, 255, 0), "TIFF"), one(RED), 0, SIDE),
    Seen("cmyk-profile-jpeg", plain("CMYK", (255, 0, 0, 0), "JPEG", icc_profile=odd_ink_profile()),
         one(RED), 8, SIDE),
    Seen("cmyk-profile-tiff", plain("CMYK", (0, 0, 0, 0), "TIFF", icc_profile=odd_ink_profile()),
         one(WHITE), 1, SIDE),
    # Orientation
    Seen("turned-jpeg", turned("JPEG", 6, TURN), tolerance=14),
    Seen("turned-png", turned("PNG", 6, TURN)),
    Seen("turned-tiff", turned("TIFF", 6, TURN)),
    Seen("turned-avif", turned("AVIF", 6, TURN), tolerance=14),
    Seen("turned-heic", turned("HEIF", 6, TURN), tolerance=14),
    Seen("mirrored-webp", turned("WEBP", 2, MIRROR), tolerance=14),
    Seen("large-turned-jpeg", large_photo, {(9, 9): RED, (-9, 9): GREEN, (9, -9): BLUE}, 8,
         (1920, 2600)),
    # Frames
    *(Seen(f"frames-{kind.lower()}", lambda kind=kind: many_frames(  # type: ignore[misc]
        kind, Image.new("RGB", SIDE, RED), BLUE), tolerance=14, **FIRST)  # type: ignore[arg-type]
      for kind in ("GIF", "PNG", "WEBP", "TIFF", "AVIF")),
    Seen("frames-heic", lambda: many_frames("HEIF", Image.new("RGB", (64, 64), RED), BLUE),
         one(RED), 14, (64, 64), "main"),
    Seen("frames-a-million", lambda: many_frames("GIF", Image.new("L", SIDE, 9), BLUE)[:-1]
         + b"\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0" * 500_000 + b";", one((9,) * 3), 0, SIDE, "first"),
    # Sizes
    Seen("one-pixel", lambda: saved(Image.new("RGB", (1, 1), GREEN)), {(0, 0): GREEN}, 0, (1, 1)),
    Seen("tall", lambda: saved(Image.new("RGB", (1, 200), BLUE)), {(0, 199): BLUE}, 0, (1, 200)),
    Seen("wide", lambda: saved(Image.new("RGB", (4000, 20), BLUE)), {(0, 0): BLUE}, 0, (4000, 20)),
    Seen("icon-of-another-size", lambda: icon(saved(quarters()), 16, 16)),
)  # fmt: skip
