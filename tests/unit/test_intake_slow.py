"""Small files that would keep a decoder busy for long, told before they are opened."""

import io
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image

from backend.errors import InputError
from backend.intake.bombs import MAX_BLOCKS, MAX_PLAIN_BYTES, MAX_SCANS
from backend.intake.decode import decode
from backend.intake.limits import intake_limits
from backend.settings import Settings

LIMITS = intake_limits(Settings())
GIF_HEAD = b"GIF89a" + struct.pack("<HHBBB", 10, 10, 0, 0, 0)
GIF_PICTURE = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\0"


def gif_with_a_long_comment(blocks: int) -> bytes:
    return GIF_HEAD + b"!\xfe" + b"\x01a" * blocks + b"\0" + GIF_PICTURE + b";"


def gif_with_many_comments(blocks: int) -> bytes:
    return GIF_HEAD + b"!\xfe\x01a\0" * (blocks // 2) + GIF_PICTURE + b";"


def gif_with_a_comment_between_frames(blocks: int) -> bytes:
    comment = b"!\xfe" + b"\x01a" * blocks + b"\0"
    return GIF_HEAD + GIF_PICTURE + comment + GIF_PICTURE + b";"


def gif_with_junk(blocks: int) -> bytes:
    return GIF_HEAD + b"\x07" * blocks + GIF_PICTURE + b";"


def png_with_empty_chunks(blocks: int) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (4, 4)).save(out, "PNG")
    data = out.getvalue()
    empty = struct.pack(">I", 0) + b"abCd" + struct.pack(">I", zlib.crc32(b"abCd"))
    return data[:33] + empty * blocks + data[33:]


MAKERS: list[Callable[[int], bytes]] = [
    gif_with_a_long_comment,
    gif_with_many_comments,
    gif_with_a_comment_between_frames,
    gif_with_junk,
    png_with_empty_chunks,
]


@pytest.mark.parametrize("make", MAKERS)
def test_too_many_blocks_are_refused_and_fewer_are_read(make: Callable[[int], bytes]) -> None:
    with pytest.raises(InputError) as caught:
        decode(make(MAX_BLOCKS + 10), "a", LIMITS)
    assert caught.value.code == "image_too_large"
    loaded = decode(make(1000), "a", LIMITS)
    assert (loaded.width, loaded.height) in ((10, 10), (4, 4))


def test_an_animation_of_many_pixels_blocks_is_read() -> None:
    """Blocks of pixels are not counted: a 20 MB animation has some 80,000."""
    pixels = b"\xff" + b"\0" * 255
    frame = b"," + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01"
    data = GIF_HEAD + GIF_PICTURE + frame + pixels * (2 * MAX_BLOCKS) + b"\0;"
    assert decode(data, "a", LIMITS).width == 10


def test_a_large_plain_ppm_is_refused_and_a_binary_one_is_not() -> None:
    plain = b"P3 1000 700 255 " + b"1 " * (MAX_PLAIN_BYTES // 2)
    with pytest.raises(InputError) as caught:
        decode(plain, "a", LIMITS)
    assert caught.value.code == "image_too_large"
    binary = b"P6 1000 700 255\n" + b"\x01" * (1000 * 700 * 3)
    assert decode(binary, "a", LIMITS).height == 700


def test_a_jpeg_of_many_scans_is_refused() -> None:
    out = io.BytesIO()
    Image.new("RGB", (64, 64), "red").save(out, "JPEG", progressive=True)
    data = out.getvalue()
    assert decode(data, "a", LIMITS).width == 64
    last = data.rindex(b"\xff\xda")
    with pytest.raises(InputError) as caught:
        decode(data[:-2] + data[last:-2] * MAX_SCANS + b"\xff\xd9", "a", LIMITS)
    assert caught.value.code == "image_too_large"
