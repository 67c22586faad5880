"""Bombs: small files that would unpack to too much, refused before any pixel is decoded."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from PIL import Image

from backend.errors import InputError
from backend.intake.limits import IntakeLimits

MAX_SCANS = 100
"""Passes over the picture in one JPEG. Cameras and web tools write about ten; each costs a pass
over all pixels, however few bytes it has."""

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


def refuse_icon_bombs(data: bytes, name: str, limits: IntakeLimits) -> None:
    """The same for an icon, which Pillow decodes as soon as it opens it."""
    if data.startswith(ICON):
        for width, height in _icon_sizes(data):
            _refuse_large(width, height, name, limits)


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
