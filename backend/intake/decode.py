"""Bytes to RGB pixels: the picture as a person sees it, within limits checked before decoding."""

from __future__ import annotations

import hashlib
import io
import struct
import warnings

from PIL import Image, ImageOps, UnidentifiedImageError

from backend.errors import InputError
from backend.intake.limits import IntakeLimits
from backend.types import LoadedImage

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "MPO", "PPM", "AVIF", "JPEG2000", "ICO")
READABLE = "PNG, JPEG, WebP, GIF, BMP, TIFF, AVIF or JPEG 2000"


def decode(data: bytes, name: str, limits: IntakeLimits) -> LoadedImage:
    """The first frame as RGB, with its orientation applied and transparency over white.

    Raises InputError: `image_too_large` for bytes or pixels over the limits, `image_unreadable` for
    anything that is not a whole picture in a known format.
    """
    if len(data) > limits.max_bytes:
        raise too_many_bytes(name, limits)
    if not data:
        raise InputError("image_unreadable", f"{name} is empty: choose another file.")
    with warnings.catch_warnings():
        # Our own limit below is stricter than Pillow's warning, and is checked before decoding;
        # what else it warns of (odd EXIF, odd tags) is nothing a person can act on.
        warnings.simplefilter("ignore")
        try:
            return _decode(data, name, limits)
        except InputError:
            raise
        except UnidentifiedImageError:
            raise InputError(
                "image_unreadable", f"{name} is not an image this app can read: use {READABLE}."
            ) from None
        except (
            OSError,
            ValueError,
            SyntaxError,
            EOFError,
            IndexError,
            KeyError,
            TypeError,
            ArithmeticError,
            RuntimeError,
            struct.error,
            Image.DecompressionBombError,
        ):
            # Pillow's decoders raise any of these for truncated or broken files.
            raise InputError(
                "image_unreadable",
                f"{name} is damaged or incomplete: save it again as PNG or JPEG.",
            ) from None


def _decode(data: bytes, name: str, limits: IntakeLimits) -> LoadedImage:
    notes: list[str] = []
    with Image.open(io.BytesIO(data), formats=_available_formats()) as opened:
        if opened.width * opened.height > limits.max_pixels:
            raise InputError(
                "image_too_large",
                f"{name} has {opened.width} x {opened.height} pixels; at most "
                f"{limits.max_pixels / 1e6:g} megapixels are allowed. Make it smaller.",
            )
        if getattr(opened, "n_frames", 1) > 1 and opened.format != "MPO":
            notes.append("only the first of several frames is used")
        opened.seek(0)
        opened.load()
        upright = ImageOps.exif_transpose(opened)
        pixels = to_rgb(upright)
    digest = hashlib.sha256(f"{pixels.mode} {pixels.width}x{pixels.height} ".encode())
    digest.update(pixels.tobytes())
    return LoadedImage(pixels, digest.hexdigest(), pixels.width, pixels.height, name, tuple(notes))


def to_rgb(image: Image.Image) -> Image.Image:
    """Any mode as RGB: high bit depths scaled rather than clipped, transparency over white."""
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _scale_to_8_bits(image).convert("RGB")
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, "white")
        return Image.alpha_composite(white, rgba).convert("RGB")
    return image.convert("RGB")


def _scale_to_8_bits(image: Image.Image) -> Image.Image:
    """16-bit values by 1/257; 32-bit and float values from their own range."""
    if image.mode.startswith("I;16"):
        image = image.convert("I")
        low, high = 0.0, 65535.0
    else:
        lowest, highest = image.getextrema()
        low, high = float(lowest), float(highest)  # type: ignore[arg-type]
        if image.mode == "I" and low >= 0 and 255 < high <= 65535:
            low, high = 0.0, 65535.0
    scale = 255.0 / (high - low) if high > low else 0.0
    scaled = image.convert("F").point(lambda value: value * scale - low * scale)
    return scaled.convert("L")


def _available_formats() -> tuple[str, ...]:
    Image.init()
    return tuple(name for name in FORMATS if name in Image.OPEN)


def too_many_bytes(name: str, limits: IntakeLimits) -> InputError:
    """The error for a file or download over the limit."""
    return InputError(
        "image_too_large",
        f"{name} is larger than {limits.max_bytes / 1e6:g} MB, the most that is allowed. "
        "Make it smaller.",
    )
