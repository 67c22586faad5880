"""Putting a picture into its bucket: always the bucket's exact size, stretched or letterboxed."""

import pytest
from PIL import Image

from backend.fitting import fit_into
from backend.placement import Bucket, Fit

BUCKET = Bucket(364, 532, (364, 532), 247)
RED, GREY = (255, 0, 0), (127, 127, 127)


@pytest.mark.parametrize("fit", ["stretch", "pad"])
@pytest.mark.parametrize("size", [(1, 1), (532, 364), (364, 532), (4000, 30), (30, 4000), (3, 2)])
def test_the_engine_gets_exactly_the_buckets_size(fit: Fit, size: tuple[int, int]) -> None:
    assert fit_into(Image.new("RGB", size, RED), BUCKET, fit).size == (532, 364)


def test_stretching_leaves_no_border() -> None:
    stretched = fit_into(Image.new("RGB", (100, 400), RED), BUCKET, "stretch")
    assert stretched.getcolors() == [(532 * 364, RED)]


def test_padding_a_portrait_leaves_grey_left_and_right_only() -> None:
    """100 x 400 fits as 91 x 364: columns 0 to 219 and 312 on are border."""
    padded = fit_into(Image.new("RGB", (100, 400), RED), BUCKET, "pad")
    assert [padded.getpixel((x, 182)) for x in (0, 219, 531)] == [GREY] * 3
    assert [padded.getpixel((266, y)) for y in (0, 182, 363)] == [RED] * 3
    reds = sum(padded.getpixel((x, 182)) == RED for x in range(532))
    assert reds == 91


def test_padding_a_banner_leaves_grey_above_and_below_only() -> None:
    """1064 x 200 fits as 532 x 100, centred: rows 132 to 231."""
    padded = fit_into(Image.new("RGB", (1064, 200), RED), BUCKET, "pad")
    assert [padded.getpixel((266, y)) for y in (0, 131, 232, 363)] == [GREY] * 4
    assert [padded.getpixel((x, 182)) for x in (0, 266, 531)] == [RED] * 3


def test_a_picture_of_the_buckets_size_is_not_resampled() -> None:
    picture = Image.effect_noise((532, 364), 90).convert("RGB")
    assert fit_into(picture, BUCKET, "stretch").tobytes() == picture.tobytes()


def test_halves_stay_left_and_right_when_stretched() -> None:
    picture = Image.new("RGB", (10, 10), RED)
    picture.paste((0, 0, 255), (5, 0, 10, 10))
    stretched = fit_into(picture, BUCKET, "stretch")
    assert stretched.getpixel((20, 182)) == RED
    assert stretched.getpixel((511, 182)) == (0, 0, 255)
