"""Colour: a picture of any mode as the RGB a person sees."""

from __future__ import annotations

from PIL import Image

from backend.intake.depth import is_deep, to_8_bits
from backend.intake.profile import lab_to_srgb, to_srgb

GREYS = ("1", "L", "LA", "La")


def to_rgb(image: Image.Image) -> Image.Image:
    """sRGB: deep values scaled, the embedded profile applied, transparency over white."""
    profile = image.info.get("icc_profile")
    if is_deep(image):
        return to_srgb(to_8_bits(image), profile)
    if image.mode == "LAB":
        return lab_to_srgb(image)
    if image.has_transparency_data:
        return _over_white(image, profile)
    if image.mode == "1":
        image = image.convert("L")
    elif image.mode not in ("L", "RGB", "CMYK"):
        image = image.convert("RGB")
    return to_srgb(image, profile)


def _over_white(image: Image.Image, profile: bytes | None) -> Image.Image:
    grey = image.mode in GREYS
    if image.mode == "La":
        image = image.convert("LA")
    transparent = image.info.get("transparency")
    if isinstance(transparent, tuple) and max(transparent) > 255:
        # Of a 16-bit file, whose pixels Pillow has brought to 8 bits and this colour not.
        image.info["transparency"] = tuple(value >> 8 for value in transparent)
    rgba = image.convert("RGBA")
    seen = to_srgb(rgba.getchannel("R") if grey else rgba.convert("RGB"), profile)
    white = Image.new("RGB", rgba.size, "white")
    white.paste(seen, mask=rgba.getchannel("A"))
    return white
