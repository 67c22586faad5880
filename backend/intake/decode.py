"""Bytes to RGB pixels: the picture as a person sees it, within limits checked before decoding."""

from __future__ import annotations

import hashlib
import io
import struct
import zlib

from PIL import Image, ImageFile, UnidentifiedImageError
from PIL.WebPImagePlugin import WebPImageFile

from backend.errors import InputError
from backend.intake.bombs import refuse_bombs, refuse_unopened, unpacks_to_too_much
from backend.intake.formats import READABLE, readable_formats
from backend.intake.kinds import is_picture, what_it_is
from backend.intake.limits import IntakeLimits
from backend.intake.orientation import read_orientation, swaps_sides, turned
from backend.intake.scale import draft, rgb_reduced
from backend.intake.webp import first_frame
from backend.types import LoadedImage

FAULTS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    Image.DecompressionBombError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise for truncated, broken or hostile files."""

TEXT_BOMBS = ("too large for PngImagePlugin", "Too much memory used in text chunks")
"""Pillow's words for a PNG whose text or profile unpacks to more than a megabyte, or 64 in all."""

STRIP = 64
"""Rows hashed at a time."""


def decode(
    data: bytes, name: str, limits: IntakeLimits, enough: tuple[int, int] | None = None
) -> LoadedImage:
    """The first frame as sRGB, with its orientation applied and transparency over white.

    `enough` is a width and a height in pixels, as a person sees the picture, below which its
    pixels are not reduced; without it they are not reduced at all.

    Raises InputError: `image_too_large` for bytes or pixels over the limits, `image_unreadable` for
    anything that is not a whole picture in a known format; the message says what it is instead.
    """
    if len(data) > limits.max_bytes:
        raise too_many_bytes(name, limits)
    if not data:
        raise InputError("image_unreadable", f"{name} is empty: choose another file.")
    try:
        return _decode(data, name, limits, enough)
    except FAULTS as fault:
        raise _explained(fault, data, name) from None


def _decode(
    data: bytes, name: str, limits: IntakeLimits, enough: tuple[int, int] | None
) -> LoadedImage:
    refuse_unopened(data, name, limits)
    with Image.open(io.BytesIO(data), formats=readable_formats()) as opened:
        refuse_bombs(opened, data, name, limits)
        notes = _notes(opened)
        stored = opened.size
        draft(opened, _as_stored(enough, read_orientation(opened)))
        drafted = opened.size != stored
        loaded = _loaded(opened)
        # Asked again: TIFF says until then how it lies in the file, and has the size it will have.
        orientation = read_orientation(opened)
        # An icon's picture may be of another size than its directory says.
        width, height = stored if drafted else opened.size
        pixels = rgb_reduced(loaded, _as_stored(enough, orientation))
        loaded.close()  # Its pixels are freed before turning makes another copy.
    pixels = turned(pixels, orientation)
    width, height = _as_seen(width, height, orientation)
    return LoadedImage(pixels, _digest(pixels, width, height), width, height, name, notes)


def _loaded(opened: ImageFile.ImageFile) -> Image.Image:
    if isinstance(opened, WebPImageFile):
        return first_frame(opened)
    opened.load()
    return opened


def _as_stored(size: tuple[int, int] | None, orientation: int) -> tuple[int, int] | None:
    """A size seen by a person as that of the file's rows and columns."""
    return _as_seen(*size, orientation) if size else None


def _as_seen(width: int, height: int, orientation: int) -> tuple[int, int]:
    return (height, width) if swaps_sides(orientation) else (width, height)


def _notes(opened: Image.Image) -> tuple[str, ...]:
    # An MPO's other pictures are a preview or a depth map: to a person it is one picture. Counting
    # all frames would mean reading them, of which a small file can hold a million.
    if opened.format == "MPO" or not getattr(opened, "is_animated", False):
        return ()
    which = "main" if opened.format == "HEIF" else "first"
    return (f"only the {which} of several frames is used",)


def _digest(pixels: Image.Image, width: int, height: int) -> str:
    digest = hashlib.sha256(f"{pixels.mode} {width}x{height} ".encode())
    # All at once would be a second copy of the picture, and takes twice as long.
    for top in range(0, pixels.height, STRIP):
        strip = (0, top, pixels.width, min(top + STRIP, pixels.height))
        digest.update(pixels.crop(strip).tobytes())
    return digest.hexdigest()


def _explained(fault: BaseException, data: bytes, name: str) -> InputError:
    """What is wrong with a file, for a person."""
    kind = what_it_is(data)
    if kind:
        return InputError(
            "image_unreadable", f"{name} is {kind}, not an image this app can read: use {READABLE}."
        )
    bomb = isinstance(fault, Image.DecompressionBombError | MemoryError)
    if bomb or any(words in str(fault) for words in TEXT_BOMBS):
        return unpacks_to_too_much(name)
    if isinstance(fault, UnidentifiedImageError) and not is_picture(data):
        return InputError(
            "image_unreadable", f"{name} is not an image this app can read: use {READABLE}."
        )
    return InputError(
        "image_unreadable", f"{name} is damaged or incomplete: save it again as PNG or JPEG."
    )


def too_many_bytes(name: str, limits: IntakeLimits) -> InputError:
    """The error for a file or download over the limit."""
    return InputError(
        "image_too_large",
        f"{name} is larger than {limits.max_bytes / 1e6:g} MB, the most that is allowed. "
        "Make it smaller.",
    )
