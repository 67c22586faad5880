"""What an image loses in its bucket is said in words, and only where it matters."""

import pytest

from backend.losses import WARN_ABOVE, losses, shrinking
from backend.placement import Bucket, Shaping

LARGE = Bucket(728, 1288, (728, 1280), 1196)
FIXED = Bucket(336, 336, None, 576)


def told(height: int, width: int, bucket: Bucket, fit: Shaping = "stretch") -> list[str]:
    return [str(loss) for loss in losses(height, width, bucket, fit)]


def kinds(height: int, width: int, bucket: Bucket, fit: Shaping = "stretch") -> list[str]:
    return [loss.kind for loss in losses(height, width, bucket, fit)]


def test_a_portrait_is_stretched_in_width() -> None:
    """(1288 / 728) / (364 / 532) = 2.586."""
    (line,) = told(532, 364, LARGE)
    assert "stretched to 2.6 times its width" in line
    assert "“pad” keeps its shape" in line


def test_a_banner_is_stretched_in_height() -> None:
    """(1200 / 300) / (1288 / 728) = 2.261."""
    (line,) = told(300, 1200, LARGE)
    assert "stretched to 2.3 times its height" in line


def test_a_picture_of_the_buckets_own_size_loses_nothing() -> None:
    assert told(728, 1288, LARGE) == []


@pytest.mark.parametrize(("width", "warned"), [(1000, False), (1150, False), (1151, True)])
def test_fifteen_percent_of_shape_is_the_limit(width: int, warned: bool) -> None:
    """A 1000 x 1000 image in a 1000 x 1150 bucket is stretched by exactly 15 %."""
    assert WARN_ABOVE == 1.15
    bucket = Bucket(1000, width, (1000, width), 1)
    assert kinds(1000, 1000, bucket) == (["shape"] if warned else [])


@pytest.mark.parametrize(("height", "warned"), [(1000, False), (870, False), (869, True)])
def test_fifteen_percent_of_detail_is_the_limit(height: int, warned: bool) -> None:
    """1000 / 870 = 1.149, 1000 / 869 = 1.151."""
    bucket = Bucket(height, height, (height, height), 1)
    assert kinds(1000, 1000, bucket) == (["detail"] if warned else [])


def test_a_photo_is_shrunk_alike_on_both_sides() -> None:
    """2912 / 728 = 4 = 5152 / 1288."""
    (line,) = told(2912, 5152, LARGE)
    assert "shrunk by a factor of 4 per side" in line
    assert "small lettering may get lost" in line
    assert "larger buckets are set with --heights and --widths" in line


def test_a_photo_is_shrunk_by_another_factor_on_each_side() -> None:
    """3024 / 728 = 4.154 and 4032 / 1288 = 3.130."""
    shape, detail = told(3024, 4032, LARGE)
    assert "stretched to 1.3 times its width" in shape
    assert "by a factor of 4.2 in height and 3.1 in width" in detail


def test_only_the_side_that_shrinks_is_named() -> None:
    _, detail = told(1456, 364, LARGE)
    assert "by a factor of 2 in height:" in detail


def test_padding_keeps_the_shape_and_shrinks_both_sides_alike() -> None:
    """1456 x 364 must halve its height to fit, and so its width."""
    assert shrinking(1456, 364, LARGE, "pad") == (2, 2)
    (line,) = told(1456, 364, LARGE, "pad")
    assert "by a factor of 2 per side" in line


def test_enlarging_loses_nothing() -> None:
    assert told(52, 92, LARGE) == []


def test_where_nothing_is_compiled_no_setting_is_named() -> None:
    lines = told(1080, 1920, FIXED)
    assert len(lines) == 2
    for word in ("pad", "--heights", "bucket"):
        assert not any(word in line for line in lines)
    assert all("Crop it" in line for line in lines)


@pytest.mark.parametrize(
    ("height", "width", "words"),
    [(336, 672, "50 % of the picture is cut off at its left and right"),
     (448, 336, "25 % of the picture is cut off at its top and bottom")],
)  # fmt: skip
def test_what_is_cut_off(height: int, width: int, words: str) -> None:
    line = told(height, width, FIXED, "crop")[0]
    assert words in line
    assert "only the middle is seen" in line


def test_nothing_is_cut_off_a_square() -> None:
    assert told(300, 300, FIXED, "crop") == []


def test_cropping_shrinks_by_the_side_that_fits() -> None:
    """672 x 1344 becomes 336 x 672, of which the middle is seen."""
    assert shrinking(672, 1344, FIXED, "crop") == (2, 2)
    assert kinds(672, 1344, FIXED, "crop") == ["edges", "detail"]
