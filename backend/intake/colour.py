"""Colour: a picture of any mode as the RGB a person sees."""

from __future__ import annotations

from collections.abc import Callable

from PIL import Image

from backend.intake.profile import lab_to_srgb, to_srgb

GREYS = ("1", "L", "LA", "La")

Convert = Callable[[Image.Image], Image.Image]


def rgb_converter(image: Image.Image, profile: bytes | None) -> Convert:
    """What turns this picture, or any piece cut out of it, into sRGB.

    The embedded profile is applied, transparency is over white. Of at most 8 bits a channel:
    `backend.intake.depth` is for the others. Looked at once for all pieces, because a profile is
    dear to read.
    """
    if image.mode == "LAB":
        return lab_to_srgb()
    if image.has_transparency_data:
        return _over_white(image, profile)
    mode = _plain_mode(image.mode)
    convert = to_srgb(mode, profile)
    return lambda piece: convert(piece if piece.mode == mode else piece.convert(mode))


def _plain_mode(mode: str) -> str:
    """The mode nearest to this one that profiles are for."""
    if mode == "1":
        return "L"
    return mode if mode in ("L", "RGB", "CMYK") else "RGB"


def _over_white(image: Image.Image, profile: bytes | None) -> Convert:
    grey = image.mode in GREYS
    convert = to_srgb("L" if grey else "RGB", profile)
    transparent = image.info.get("transparency")
    if isinstance(transparent, tuple) and max(transparent) > 255:
        # Of a 16-bit file, whose pixels Pillow has brought to 8 bits and this colour not.
        image.info["transparency"] = tuple(value >> 8 for value in transparent)

    def over_white(piece: Image.Image) -> Image.Image:
        rgba = (piece.convert("LA") if piece.mode == "La" else piece).convert("RGBA")
        seen = convert(rgba.getchannel("R") if grey else rgba.convert("RGB"))
        white = Image.new("RGB", rgba.size, "white")
        white.paste(seen, mask=rgba.getchannel("A"))
        return white

    return over_white
