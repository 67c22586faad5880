"""Small files for the intake tests, made in memory."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

from PIL import Image

from backend.intake.formats import readable_formats
from backend.intake.limits import IntakeLimits

RED, GREEN, BLUE, WHITE, BLACK = (255, 0, 0), (0, 255, 0), (0, 0, 255), (255,) * 3, (0,) * 3

LIMITS = IntakeLimits(
    max_bytes=1_000_000,
    max_pixels=1_000_000,
    fetch_timeout_s=5.0,
    allow_private=False,
    allow_ports=(80, 443),
)


def saved(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    """The image as a file of the kind."""
    readable_formats()
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def quarters(width: int = 64, height: int = 48) -> Image.Image:
    """Red and green above, blue and white below; no mirror image or rotation is the same."""
    image = Image.new("RGB", (width, height), WHITE)
    half_width, half_height = width // 2, height // 2
    image.paste(RED, (0, 0, half_width, half_height))
    image.paste(GREEN, (half_width, 0, width, half_height))
    image.paste(BLUE, (0, half_height, half_width, height))
    return image


def corners(image: Image.Image) -> list[Any]:
    """Colours near the four corners: top left, top right, bottom left, bottom right."""
    right, bottom = image.width - 5, image.height - 5
    return [image.getpixel(at) for at in ((4, 4), (right, 4), (4, bottom), (right, bottom))]


def png_header(width: int, height: int, depth: int = 1, colour: int = 0) -> bytes:
    """A PNG that claims a size and holds almost nothing."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*chunk) for chunk in chunks)


def many_frames(kind: str, first: Image.Image, other: Any) -> bytes:
    """A file of three frames, all but the first of one other colour."""
    others = [Image.new("RGB", first.size, other) for _ in range(2)]
    options: dict[str, Any] = {} if kind in ("GIF", "PNG", "TIFF") else {"quality": 95}
    return saved(first, kind, save_all=True, append_images=others, **options)


def icon(body: bytes, width: int, height: int) -> bytes:
    """An ICO of one picture, of which the directory says this size."""
    entry = struct.pack("<BBBBHHII", width, height, 0, 0, 1, 32, len(body), 22)
    return struct.pack("<HHH", 0, 1, 1) + entry + body


def png_with(*chunks: tuple[bytes, bytes]) -> bytes:
    """A one-pixel PNG with these chunks before its pixel."""
    whole = saved(Image.new("L", (1, 1)))
    extra = b"".join(map(png_chunk, *zip(*chunks, strict=True)))
    return whole[:33] + extra + whole[33:]


def png_chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
