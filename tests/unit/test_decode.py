"""Bytes to pixels: the picture as a person sees it, whatever the file's mode, format and flags."""

from typing import Any

import numpy as np
import pytest
from PIL import Image

from backend.intake.decode import decode
from backend.types import LoadedImage

from .pictures import BLACK, BLUE, GREEN, LIMITS, RED, WHITE, corners, quarters, saved


def load(data: bytes) -> LoadedImage:
    return decode(data, "cat.png", LIMITS)


def first_pixel(image: Image.Image, kind: str = "PNG", **options: Any) -> Any:
    return load(saved(image, kind, **options)).pixels.getpixel((0, 0))


def close(seen: Any, due: Any, tolerance: int) -> bool:
    return all(abs(a - b) <= tolerance for a, b in zip(seen, due, strict=True))


@pytest.mark.parametrize(
    ("kind", "options", "tolerance"),
    [
        ("PNG", {}, 0),
        ("JPEG", {"quality": 95, "subsampling": 0}, 8),
        ("JPEG", {"quality": 95, "progressive": True}, 8),
        ("WEBP", {"lossless": True}, 0),
        ("WEBP", {"quality": 90}, 12),
        ("GIF", {}, 0),
        ("BMP", {}, 0),
        ("TIFF", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("TIFF", {"compression": "tiff_adobe_deflate"}, 0),
        ("AVIF", {"quality": 95}, 12),
        ("JPEG2000", {}, 2),
        ("PPM", {}, 0),
        ("ICO", {"sizes": [(64, 48)]}, 0),
    ],
    ids=str,
)
def test_formats(kind: str, options: dict[str, Any], tolerance: int) -> None:
    loaded = load(saved(quarters(), kind, **options))
    assert (loaded.pixels.mode, loaded.width, loaded.height) == ("RGB", 64, 48)
    assert loaded.pixels.size == (64, 48)
    assert loaded.notes == ()
    for seen, due in zip(corners(loaded.pixels), (RED, GREEN, BLUE, WHITE), strict=True):
        assert close(seen, due, tolerance)


@pytest.mark.parametrize(
    ("image", "pixel"),
    [
        (Image.new("RGB", (4, 4), (1, 2, 3)), (1, 2, 3)),
        (Image.new("RGBA", (4, 4), (255, 0, 0, 0)), WHITE),
        (Image.new("RGBA", (4, 4), (255, 0, 0, 255)), RED),
        (Image.new("RGBA", (4, 4), (0, 0, 0, 51)), (204, 204, 204)),
        (Image.new("LA", (4, 4), (0, 0)), WHITE),
        (Image.new("LA", (4, 4), (0, 51)), (204, 204, 204)),
        (Image.new("LA", (4, 4), (100, 255)), (100, 100, 100)),
        (Image.new("L", (4, 4), 100), (100, 100, 100)),
        (Image.new("1", (4, 4), 1), WHITE),
        (Image.new("1", (4, 4), 0), BLACK),
        (Image.new("RGB", (4, 4), BLUE).convert("P"), BLUE),
    ],
    ids=lambda value: value.mode if isinstance(value, Image.Image) else str(value),
)
def test_modes(image: Image.Image, pixel: tuple[int, int, int]) -> None:
    """Transparency is over white: dropping it would show whatever colour lies beneath."""
    assert first_pixel(image) == pixel


def test_a_palette_with_a_transparent_entry() -> None:
    image = Image.new("P", (4, 4), 0)
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((3, 3), 1)
    for kind in ("PNG", "GIF"):
        pixels = load(saved(image, kind, transparency=0)).pixels
        assert (pixels.getpixel((0, 0)), pixels.getpixel((3, 3))) == (WHITE, BLUE)


def test_a_transparent_colour_of_a_plain_png() -> None:
    image = Image.new("RGB", (4, 4), RED)
    image.putpixel((3, 3), BLUE)
    pixels = load(saved(image, transparency=RED)).pixels
    assert (pixels.getpixel((0, 0)), pixels.getpixel((3, 3))) == (WHITE, BLUE)


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bit_greyscale_is_scaled(kind: str) -> None:
    """Pillow's own conversion clips every value over 255 to white."""
    values = np.array([[0, 257 * 64, 257 * 128, 65535]], dtype=np.uint16)
    pixels = load(saved(Image.fromarray(values), kind)).pixels
    seen = [pixels.getpixel((x, 0))[0] for x in range(4)]  # type: ignore[index]
    assert close(seen, (0, 64, 128, 255), 1)


def test_16_bit_values_below_256_stay_dark() -> None:
    """Scaled by their depth, not by the range that happens to be there."""
    values = np.array([[0, 255]], dtype=np.uint16)
    pixels = load(saved(Image.fromarray(values))).pixels
    assert close(pixels.getpixel((1, 0)), (1, 1, 1), 1)


@pytest.mark.parametrize(
    "values",
    [
        np.array([[0.0, 0.5, 1.0]], dtype=np.float32),
        np.array([[-10.0, 0.0, 10.0]], dtype=np.float32),
        np.array([[0, 50_000, 100_000]], dtype=np.int32),
    ],
    ids=["unit", "signed", "32-bit"],
)
def test_values_without_a_known_depth_are_scaled_by_their_range(values: Any) -> None:
    pixels = load(saved(Image.fromarray(values), "TIFF")).pixels
    seen = [pixels.getpixel((x, 0))[0] for x in range(3)]  # type: ignore[index]
    assert close(seen, (0, 127, 255), 1)


def test_one_flat_float_value_is_no_division_by_zero() -> None:
    flat = Image.fromarray(np.full((2, 2), 0.5, dtype=np.float32))
    assert load(saved(flat, "TIFF")).pixels.getpixel((0, 0)) == BLACK


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_cmyk(kind: str) -> None:
    """Cyan, magenta, yellow, black: full magenta and yellow are red."""
    image = Image.new("CMYK", (16, 16), (0, 255, 255, 0))
    assert close(first_pixel(image, kind), RED, 6)


# Where the picture's four corners are in a file that is to be turned so; from the EXIF table.
ORIENTATIONS = {
    1: None,
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,  # stored a quarter turn anticlockwise, shown clockwise
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_exif_orientation_is_applied(orientation: int, kind: str) -> None:
    stored, how = quarters(), ORIENTATIONS[orientation]
    if how is not None:
        stored = stored.transpose(how)
    exif = Image.Exif()
    exif[0x0112] = orientation
    loaded = load(saved(stored, kind, exif=exif, quality=95))
    assert (loaded.width, loaded.height) == (64, 48)
    for seen, due in zip(corners(loaded.pixels), (RED, GREEN, BLUE, WHITE), strict=True):
        assert close(seen, due, 14)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF", "AVIF"])
def test_the_first_of_several_frames_with_a_note(kind: str) -> None:
    options: dict[str, Any] = {"quality": 95} if kind in ("WEBP", "AVIF") else {}
    others = [Image.new("RGB", (32, 32), colour) for colour in (BLUE, GREEN)]
    data = saved(
        Image.new("RGB", (32, 32), RED), kind, save_all=True, append_images=others, **options
    )
    loaded = load(data)
    assert close(loaded.pixels.getpixel((16, 16)), RED, 12)
    assert len(loaded.notes) == 1
    assert "first" in loaded.notes[0]


def test_a_phones_two_pictures_in_one_are_no_animation() -> None:
    """MPO holds a preview or a depth map beside the picture; a person sees one picture."""
    others = [Image.new("RGB", (64, 48), BLUE)]
    loaded = load(saved(quarters(), "MPO", save_all=True, append_images=others))
    assert loaded.notes == ()
    assert close(corners(loaded.pixels)[0], RED, 20)


def test_one_pixel() -> None:
    loaded = load(saved(Image.new("RGB", (1, 1), GREEN)))
    assert (loaded.width, loaded.height, loaded.pixels.getpixel((0, 0))) == (1, 1, GREEN)


def test_the_same_picture_has_the_same_hash_in_every_lossless_file() -> None:
    picture = quarters()
    kinds = ("PNG", "BMP", "TIFF", "PPM")
    assert len({load(saved(picture, kind)).sha256 for kind in kinds}) == 1
    assert load(saved(picture)).sha256 == load(saved(picture.convert("RGBA"))).sha256


def test_the_hash_is_of_the_size_too() -> None:
    """Six red pixels are the same bytes as 2 x 3 and as 3 x 2."""
    shapes = ((2, 3), (3, 2), (6, 1))
    hashes = {load(saved(Image.new("RGB", shape, RED))).sha256 for shape in shapes}
    assert len(hashes) == 3


def test_one_pixel_makes_another_hash() -> None:
    changed = quarters()
    changed.putpixel((0, 0), (254, 0, 0))
    assert load(saved(changed)).sha256 != load(saved(quarters())).sha256


def test_the_name_is_kept_for_messages() -> None:
    assert load(saved(quarters())).source == "cat.png"
