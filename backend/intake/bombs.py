"""Bombs: small files that would unpack to too much, refused before any pixel is decoded."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import islice

from PIL import Image

from backend.errors import InputError
from backend.intake.limits import IntakeLimits

MAX_SCANS = 30
"""Passes over the picture in one JPEG. Cameras and web tools write about ten; each costs a pass
over all pixels, however few bytes it has."""

MAX_BLOCKS = 20_000
"""Pieces of a GIF that are not pixels, and of a PNG. A 20 MB photo written in pieces of 8 kB has
2,500; Pillow takes time for each, and for those of a GIF's comment the square of their number."""

MAX_PLAIN_BYTES = 2_000_000
"""A PPM file whose pixels are written out as digits, which Pillow reads one by one."""

ICON = b"\0\0\1\0"

MAX_ASPECT = 200
"""Longer side over shorter side, as Qwen's `smart_resize` has it. A processor that keeps the aspect
while it makes the shorter side larger would make an enormous picture of a longer one."""


def refuse_bombs(opened: Image.Image, data: bytes, name: str, limits: IntakeLimits) -> None:
    """Checks what the header claims of an image that is open but not yet loaded.

    Raises InputError: `image_too_large`; `image_unreadable` for a shape that no model can look at.
    """
    if min(opened.size) < 1:
        raise InputError("image_unreadable", f"{name} has no pixels: choose another file.")
    _refuse_large(*opened.size, name, limits)
    if max(opened.size) > MAX_ASPECT * min(opened.size):
        raise InputError(
            "image_unreadable",
            f"{name} is {opened.width} x {opened.height} pixels; its longer side may be at most "
            f"{MAX_ASPECT} times its shorter side. Crop it and try again.",
        )
    if opened.format in ("JPEG", "MPO") and data.count(b"\xff\xda") > MAX_SCANS:
        raise unpacks_to_too_much(name)


def refuse_unopened(data: bytes, name: str, limits: IntakeLimits) -> None:
    """The same for what Pillow already takes memory or time for when it opens it."""
    if data.startswith(b"GIF8") and _exceeds(_gif_blocks(data), MAX_BLOCKS):
        raise unpacks_to_too_much(name)
    if data.startswith(b"\x89PNG\r\n\x1a\n") and _exceeds(_png_chunks(data), MAX_BLOCKS):
        raise unpacks_to_too_much(name)
    if data[:2] in (b"P1", b"P2", b"P3") and len(data) > MAX_PLAIN_BYTES:
        raise unpacks_to_too_much(name)
    if data.startswith(ICON):
        for width, height in _icon_sizes(data):
            _refuse_large(width, height, name, limits)


def _exceeds(pieces: Iterator[int], most: int) -> bool:
    return next(islice(pieces, most, None), None) is not None


def _png_chunks(data: bytes) -> Iterator[int]:
    """Where each chunk of a PNG begins."""
    at = 8
    while at + 8 <= len(data):
        yield at
        at += 12 + int.from_bytes(data[at : at + 4], "big")


def _gif_blocks(data: bytes) -> Iterator[int]:
    """Where each block of a GIF begins that is not pixels, and each byte that is none."""
    at = 13 + _color_table(data, 10)
    while at < len(data) and data[at : at + 1] != b";":
        kind = data[at : at + 1]
        if kind == b",":
            at += 11 + _color_table(data, at + 9)
        else:
            yield at
            at += 2 if kind == b"!" else 1
        while kind in (b",", b"!") and at < len(data) and data[at]:
            if kind == b"!":
                yield at
            at += 1 + data[at]
        at += kind in (b",", b"!")


def _color_table(data: bytes, flags: int) -> int:
    """Bytes of the table that the flags at this place announce."""
    has_table = flags < len(data) and data[flags] & 0x80
    return 3 << (data[flags] & 7) + 1 if has_table else 0


def unpacks_to_too_much(name: str) -> InputError:
    """The error for a file that is small and asks for far more memory or time than a picture."""
    return InputError(
        "image_too_large",
        f"{name} unpacks to far more than a picture of its size needs: save it again as PNG or "
        "JPEG.",
    )


def _refuse_large(width: int, height: int, name: str, limits: IntakeLimits) -> None:
    if width * height > limits.max_pixels:
        raise InputError(
            "image_too_large",
            f"{name} has {width} x {height} pixels; at most {limits.max_pixels / 1e6:g} megapixels "
            "are allowed. Make it smaller.",
        )


def _icon_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Sizes that an icon's pictures claim themselves; its directory's go to 256 at most."""
    (count,) = struct.unpack_from("<H", data, 4)
    for index in range(count):
        (offset,) = struct.unpack_from("<I", data, 6 + 16 * index + 12)
        if data[offset : offset + 8] == b"\x89PNG\r\n\x1a\n":
            yield struct.unpack_from(">II", data, offset + 16)
        else:
            width, height = struct.unpack_from("<ii", data, offset + 4)
            yield abs(width), abs(height) // 2
