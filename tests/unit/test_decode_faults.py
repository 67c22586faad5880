"""Bytes that are no picture, or too much of one: the right code, and a message for a person."""

import io
import random
import time
import zipfile

import pytest
from PIL import Image

from backend.errors import InputError
from backend.intake.decode import decode
from backend.intake.limits import IntakeLimits

from .pictures import LIMITS, RED, png_header, quarters, saved

# Pillow warns of odd files before it gives up on them.
pytestmark = pytest.mark.filterwarnings("ignore:::PIL")

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="http://127.0.0.1/x"/></svg>'


def refusal(data: bytes, limits: IntakeLimits = LIMITS) -> InputError:
    with pytest.raises(InputError) as caught:
        decode(data, "cat.png", limits)
    error = caught.value
    assert "cat.png" in error.message
    for leak in ("0x", "BytesIO", "PIL", "/tmp", "/work", "Traceback", "<"):
        assert leak not in error.message
    return error


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(zipfile.ZipInfo("cat.png"), saved(quarters()))
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\0",
        b"hello, I am a text file\n" * 50,
        SVG,
        b'<?xml version="1.0"?>' + SVG,
        b"<!doctype html><html></html>",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",
        zipped(),
        b"\x89PNG\r\n\x1a\n",
        b"\xff\xd8\xff\xe0",
        b"GIF89a",
        b"RIFF\x10\0\0\0WEBP",
        bytes(range(256)) * 4,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_what_is_no_picture(data: bytes) -> None:
    assert refusal(data).code == "image_unreadable"


def test_an_empty_file_is_called_empty() -> None:
    assert "empty" in refusal(b"").message


def test_a_format_that_is_not_read_is_told_those_that_are() -> None:
    message = refusal(SVG).message
    for kind in ("PNG", "JPEG", "WebP", "AVIF"):
        assert kind in message


def test_postscript_is_not_handed_to_ghostscript() -> None:
    """Pillow would run an external program for it."""
    assert refusal(saved(quarters(), "EPS")).code == "image_unreadable"


@pytest.mark.parametrize(
    "kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF", "JPEG2000"]
)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_truncated_files(kind: str, part: float) -> None:
    picture = Image.effect_noise((120, 90), 80).convert("RGB")
    data = saved(picture, kind)
    error = refusal(data[: int(len(data) * part)])
    assert error.code == "image_unreadable"


@pytest.mark.parametrize(
    "kind", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "AVIF", "HEIF", "JPEG2000", "MPO"]
)
def test_damaged_files_never_raise_anything_else(kind: str) -> None:
    """Pillow's decoders raise many kinds of exceptions; AVIF's raise RuntimeError."""
    picture = Image.effect_noise((40, 30), 80).convert("RGB")
    whole, draw = saved(picture, kind), random.Random(0)
    for _ in range(300):
        data = bytearray(whole)
        for _ in range(draw.choice((1, 4, 16))):
            data[draw.randrange(min(len(data), draw.choice((100, 10_000))))] = draw.randrange(256)
        try:
            decode(bytes(data), "cat.png", LIMITS)
        except InputError as error:
            assert error.code in ("image_unreadable", "image_too_large")


def test_a_mislabelled_file_is_read_for_what_it_is() -> None:
    assert decode(saved(quarters(), "JPEG"), "cat.png", LIMITS).width == 64


@pytest.mark.parametrize("side", [13_000, 60_000, 2**31 - 1])
def test_a_decompression_bomb_is_refused_from_its_header(side: int) -> None:
    """A 1-bit PNG of 13000 x 13000 pixels is some 20 kB; Pillow only warns."""
    started = time.perf_counter()
    error = refusal(png_header(side, side))
    assert time.perf_counter() - started < 1
    assert error.code in ("image_too_large", "image_unreadable")


def test_too_many_pixels_names_both_sizes() -> None:
    error = refusal(png_header(13_000, 13_000))
    assert error.code == "image_too_large"
    assert "13000 x 13000" in error.message
    assert "1 megapixels" in error.message


def test_pixels_just_at_the_limit() -> None:
    assert decode(saved(Image.new("L", (1000, 1000))), "cat.png", LIMITS).width == 1000
    assert refusal(saved(Image.new("L", (1001, 1000)))).code == "image_too_large"


def test_too_many_bytes() -> None:
    error = refusal(b"\x89PNG" + b"\0" * 1_000_000)
    assert error.code == "image_too_large"
    assert "1 MB" in error.message


def test_a_bomb_of_frames_is_not_unpacked() -> None:
    """Only the first frame is decoded; the others are counted at most."""
    frames = [Image.new("L", (1000, 1000), n) for n in range(60)]
    data = saved(Image.new("L", (1000, 1000), RED[0]), "GIF", save_all=True, append_images=frames)
    started = time.perf_counter()
    loaded = decode(data, "cat.png", LIMITS)
    assert loaded.width == 1000
    assert time.perf_counter() - started < 3
