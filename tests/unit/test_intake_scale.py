"""Large pictures are reduced on the way in; what is told of them, and what is encoded, stays."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from backend.fitting import fit_into
from backend.intake.decode import decode
from backend.intake.limits import IntakeLimits
from backend.intake.scale import enough_pixels
from backend.placement import Bucket
from backend.plan import Plan
from backend.service import Bifocal
from backend.settings import read_settings
from backend.types import ImageInput, LoadedImage

from .pictures import quarters, saved

LIMITS = IntakeLimits(50_000_000, 50_000_000, 5.0, False, (80, 443))
LARGEST = Bucket(728, 1288, (728, 1280), 1196)
ENOUGH = enough_pixels([Bucket(364, 532, (364, 532), 247), LARGEST])


@cache
def photo() -> Image.Image:
    """Soft shapes with sharp edges and grain, as photos have."""
    width, height = 4000, 3000
    draw = np.random.default_rng(0)
    coarse = Image.fromarray(draw.integers(40, 216, (12, 16, 3), np.uint8))
    soft = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC)).astype(np.int16)
    soft[height // 3 : height // 2, width // 4 : width // 2] //= 2
    grain = draw.integers(-6, 7, (height, width, 1), np.int16)
    return Image.fromarray((soft + grain).clip(0, 255).astype(np.uint8))


def load(data: bytes, enough: tuple[int, int] | None = ENOUGH) -> LoadedImage:
    return decode(data, "cat.png", LIMITS, enough)


def test_how_much_is_enough() -> None:
    """One and a half times the largest each way; all of it where a processor resizes itself."""
    assert ENOUGH == (1932, 1092)
    assert enough_pixels([Bucket(364, 1000, (364, 1000), 9), Bucket(900, 400, (900, 400), 8)]) == (
        1500, 1350,
    )  # fmt: skip
    assert enough_pixels([]) is None
    assert enough_pixels([LARGEST, Bucket(336, 336, None, 576)]) is None


@pytest.mark.parametrize(
    ("kind", "fit"), [("JPEG", "stretch"), ("JPEG", "pad"), ("BMP", "stretch")]
)
def test_the_encoder_is_given_the_same_picture(kind: str, fit: str) -> None:
    data = saved(photo(), kind, quality=90)
    whole, reduced = load(data, None), load(data)
    assert (whole.pixels.size, reduced.pixels.size) == ((4000, 3000), (2000, 1500))
    assert (reduced.width, reduced.height) == (whole.width, whole.height) == (4000, 3000)
    given = [
        np.asarray(fit_into(loaded.pixels, LARGEST, fit)).astype(int)  # type: ignore[arg-type]
        for loaded in (whole, reduced)
    ]
    assert np.abs(given[0] - given[1]).mean() < 0.5


@pytest.mark.parametrize("kind", ["JPEG", "TIFF"])
def test_a_portrait_is_measured_as_a_person_sees_it(kind: str) -> None:
    """Stored lying down: 2600 rows become columns, so that a half would be too few of them."""
    exif = Image.Exif()
    exif[0x0112] = 6
    stored = quarters(4000, 2600).transpose(Image.Transpose.ROTATE_90)
    loaded = load(saved(stored, kind, exif=exif.tobytes()))
    assert (loaded.width, loaded.height) == (4000, 2600)
    assert loaded.pixels.size == (2000, 1300)
    stored = quarters(2600, 4000).transpose(Image.Transpose.ROTATE_90)
    loaded = load(saved(stored, kind, exif=exif.tobytes()))
    assert loaded.pixels.size == (loaded.width, loaded.height) == (2600, 4000)


@pytest.mark.parametrize("size", [(3863, 2184), (1932, 9000), (40, 4000)])
def test_nothing_is_lost_that_a_bucket_could_use(size: tuple[int, int]) -> None:
    loaded = load(saved(quarters(*size), "JPEG"))
    assert loaded.pixels.size == (loaded.width, loaded.height) == size


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1"])
def test_every_mode_is_reduced(mode: str) -> None:
    loaded = load(saved(quarters(4000, 3000).convert(mode), compress_level=1))
    assert loaded.pixels.size == (2000, 1500)
    assert loaded.pixels.getpixel((1990, 1490)) == (255, 255, 255)


def test_a_transparent_colour_is_not_averaged_with_its_neighbours() -> None:
    """Halfway between red and the red that is transparent there is no red."""
    image = Image.new("RGB", (4000, 3000), (255, 0, 0))
    image.paste((0, 0, 255), (1001, 0, 4000, 3000))
    pixels = load(saved(image, compress_level=1, transparency=(255, 0, 0))).pixels
    assert pixels.getpixel((500, 9)) == (128, 128, 255)


def test_lossless_files_of_a_large_picture_have_one_hash() -> None:
    picture = photo()
    hashes = {load(saved(picture, kind)).sha256 for kind in ("BMP", "PPM")}
    assert len(hashes) == 1
    changed = picture.copy()
    changed.paste((0, 0, 0), (0, 0, 4, 4))
    assert load(saved(changed, "BMP")).sha256 not in hashes


def test_the_own_size_is_part_of_the_hash() -> None:
    """Both are reduced to the same pixels; the bucket's reason would be another's."""
    sizes = ((4000, 3000), (4001, 3000))
    hashes = {load(saved(Image.new("L", size), "JPEG")).sha256 for size in sizes}
    assert len(hashes) == 2


async def test_the_bucket_is_that_of_the_own_size(plan: Plan, tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_bytes(saved(quarters(4000, 3000), "JPEG"))
    backend = Bifocal(read_settings({"target": "cpu"}), plan)
    placed = await backend.place(ImageInput(str(tmp_path / "a.jpg"), "path"))
    own = plan.spec.resolution.place(3000, 4000, plan.buckets, "stretch")
    assert (placed.width, placed.height, placed.placement) == (4000, 3000, own)
