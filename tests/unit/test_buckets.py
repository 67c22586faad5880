"""The bucket rule: compiled pairs, the settings that are refused, and what is told about a choice.

Expected values are the QAIC documentation's and the plugin's, written out by hand.
"""

import dataclasses

import pytest

from backend.buckets import DynamicResolution, choose, compile_buckets, keep_size
from backend.errors import InputError, SettingError
from backend.placement import Bucket

QWEN2_5 = DynamicResolution(patch=14, merge=2)
QWEN3 = DynamicResolution(patch=16, merge=2)
HEIGHTS, WIDTHS = (364, 512, 728), (532, 910, 1280)


def test_compiled_pairs_snap_to_factor_28() -> None:
    assert compile_buckets(HEIGHTS, WIDTHS, QWEN2_5) == (
        Bucket(364, 532, (364, 532), 247),
        Bucket(504, 896, (512, 910), 576),
        Bucket(728, 1288, (728, 1280), 1196),
    )


def test_compiled_pairs_snap_to_factor_32() -> None:
    assert compile_buckets(HEIGHTS, WIDTHS, QWEN3) == (
        Bucket(352, 544, (364, 532), 187),
        Bucket(512, 896, (512, 910), 448),
        Bucket(736, 1280, (728, 1280), 920),
    )


def test_heights_and_widths_are_pairs_not_a_cross_product() -> None:
    assert len(compile_buckets((364, 728), (532, 1280), QWEN2_5)) == 2


def test_a_pair_beyond_the_models_limit_is_made_smaller() -> None:
    """16384 tokens of 28 x 28 pixels are 3584 x 3584; the plugin shrinks what is larger."""
    (bucket,) = compile_buckets((4000,), (4000,), QWEN2_5)
    assert (bucket.height, bucket.width, bucket.tokens) == (3584, 3584, 16384)


def test_a_tiny_pair_is_made_as_large_as_the_models_least() -> None:
    (bucket,) = compile_buckets((10,), (10,), QWEN2_5)
    assert (bucket.height, bucket.width, bucket.tokens) == (56, 56, 4)


@pytest.mark.parametrize(
    ("heights", "widths", "words"),
    [
        ((364, 512), (532,), ["--heights", "--widths", "2 heights", "1 widths"]),
        ((364,), (), ["1 heights", "0 widths"]),
        ((), (), ["--heights", "--widths", "0 heights"]),
        ((0,), (532,), ["positive"]),
        ((364,), (-532,), ["positive"]),
        ((364, 532), (532, 364), ["364x532", "532x364", "247 visual tokens"]),
        ((364, 364), (532, 532), ["364x532", "247 visual tokens"]),
        ((370, 364), (532, 540), ["247 visual tokens"]),
        ((28,), (5628,), ["28x5628", "200"]),
    ],
    ids=str,
)
def test_wrong_pairs_are_refused_naming_what_to_change(
    heights: tuple[int, ...], widths: tuple[int, ...], words: list[str]
) -> None:
    with pytest.raises(SettingError) as caught:
        compile_buckets(heights, widths, QWEN2_5)
    assert caught.value.code == "bad_setting"
    for word in words:
        assert word in caught.value.message


def test_a_portrait_goes_to_the_largest_landscape_bucket() -> None:
    """532 high, 364 wide: only 728 x 1288 holds all of its pixels."""
    placement = choose(532, 364, compile_buckets(HEIGHTS, WIDTHS, QWEN2_5), QWEN2_5, "stretch")
    assert (placement.bucket.height, placement.bucket.width) == (728, 1288)


@pytest.mark.parametrize(
    ("height", "width", "pixels"),
    [
        (532, 364, [(90636, 103012), (173376, 278208), (193648, 744016)]),
        (1080, 1920, [(159600, 34048), (449064, 2520), (937664, 0)]),
        (480, 640, [(179088, 14560), (306544, 145040), (306544, 631120)]),
        (256, 256, [(63504, 130144), (63504, 388080), (63504, 874160)]),
    ],
)
def test_candidates_tell_effective_and_wasted_pixels(
    height: int, width: int, pixels: list[tuple[int, int]]
) -> None:
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    candidates = choose(height, width, buckets, QWEN2_5, "stretch").candidates
    assert [(c.effective_pixels, c.wasted_pixels) for c in candidates] == pixels


@pytest.mark.parametrize(("height", "width"), [(1, 1), (364, 532), (532, 364), (900, 900)])
def test_exactly_one_candidate_is_chosen_and_it_is_the_bucket(height: int, width: int) -> None:
    placement = choose(height, width, compile_buckets(HEIGHTS, WIDTHS, QWEN2_5), QWEN2_5, "stretch")
    assert [c.bucket for c in placement.candidates if c.chosen] == [placement.bucket]


def test_why_names_the_snapped_size_and_the_winner() -> None:
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    exact = choose(370, 540, buckets, QWEN2_5, "pad").why
    assert "364x532 (height x width), which is a bucket" in exact
    why = choose(480, 640, buckets, QWEN2_5, "stretch").why
    for part in ("476x644", "504x896", "306,544", "as 1 other does", "(145,040)"):
        assert part in why


def test_why_tells_of_equals_only_where_there_are_some() -> None:
    """All of a small picture is kept by every bucket; the smallest wastes the least."""
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    assert (
        "as 2 others do, and of these wastes the fewest"
        in choose(200, 300, buckets, QWEN2_5, "stretch").why
    )
    portrait = choose(532, 364, buckets, QWEN2_5, "stretch").why
    assert "728x1288 keeps the most of its pixels (193,648)." in portrait
    assert portrait.endswith("taller than it is wide.")


def test_why_says_where_no_bucket_is_of_the_pictures_kind() -> None:
    wide, tall = (
        compile_buckets(*pair, QWEN2_5) for pair in ((HEIGHTS, WIDTHS), (WIDTHS, HEIGHTS))
    )
    both = compile_buckets((*HEIGHTS, 980), (*WIDTHS, 420), QWEN2_5)
    for buckets, height, width, said in (
        (wide, 900, 500, True), (wide, 500, 900, False), (wide, 600, 600, False),
        (tall, 500, 900, True), (tall, 900, 500, False), (both, 900, 500, False),
    ):  # fmt: skip
        why = choose(height, width, buckets, QWEN2_5, "stretch").why
        assert ("Every bucket is" in why) == said, (height, width)


@pytest.mark.parametrize(
    ("height", "width", "change"),
    [
        (364, 532, 1.0),
        (532, 364, 2.5858),  # (1288 / 728) / (364 / 532)
        (480, 640, 1.3333),  # (896 / 504) / (640 / 480)
        (1080, 1920, 0.9952),  # (1288 / 728) / (1920 / 1080)
    ],
)
def test_aspect_change_of_stretching_is_the_buckets_aspect_over_the_images(
    height: int, width: int, change: float
) -> None:
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    placement = choose(height, width, buckets, QWEN2_5, "stretch")
    assert placement.aspect_change == pytest.approx(change, abs=5e-5)


def test_aspect_change_of_padding_is_one() -> None:
    placement = choose(532, 364, compile_buckets(HEIGHTS, WIDTHS, QWEN2_5), QWEN2_5, "pad")
    assert (placement.fit, placement.aspect_change) == ("pad", 1.0)


@pytest.mark.parametrize(("height", "width"), [(1, 201), (201, 1), (10, 4000)])
def test_an_extreme_aspect_is_the_images_fault(height: int, width: int) -> None:
    """`smart_resize` raises ValueError over 200; it must not reach a person as that."""
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    with pytest.raises(InputError) as caught:
        choose(height, width, buckets, QWEN2_5, "stretch")
    assert caught.value.code == "image_unreadable"
    assert f"{height} x {width} pixels (height x width)" in caught.value.message
    assert "200" in caught.value.message


def test_an_aspect_of_exactly_200_is_answered() -> None:
    buckets = compile_buckets(HEIGHTS, WIDTHS, QWEN2_5)
    assert choose(1, 200, buckets, QWEN2_5, "stretch").bucket in buckets


def test_without_compiled_sizes_an_image_only_snaps() -> None:
    placement = keep_size(100, 200, QWEN2_5)
    assert placement.bucket == Bucket(112, 196, None, 28)
    assert placement.candidates == ()
    assert placement.aspect_change == pytest.approx(0.875)


def test_the_models_own_limits_are_used() -> None:
    small = dataclasses.replace(QWEN2_5, max_tokens=100)
    (bucket,) = compile_buckets((1000,), (1000,), small)
    assert (bucket.height, bucket.width, bucket.tokens) == (280, 280, 100)
