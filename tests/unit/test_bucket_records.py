"""Which bucket an image gets, against recorded values and against the plugin's rule.

The recorded values come from an oracle written apart from the code under test, out of the rule's
description alone; the rule itself is a composition of two functions of transformers.
"""

import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from transformers.image_processing_utils import select_best_resolution
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

from backend.buckets import DynamicResolution, choose, compile_buckets
from backend.errors import SettingError

RESOLUTIONS = {28: DynamicResolution(patch=14), 32: DynamicResolution(patch=16)}
DOCUMENTED = ((364, 532), (512, 910), (728, 1280))

# Image height, image width, bucket height, bucket width.
DOCUMENTED_AT_28 = [
    (1, 1, 364, 532),
    (28, 28, 364, 532),
    (100, 100, 364, 532),
    (150, 1, 728, 1288),
    (1, 150, 504, 896),
    (364, 532, 364, 532),
    (370, 540, 364, 532),
    (350, 518, 364, 532),
    (351, 519, 364, 532),
    (378, 546, 504, 896),
    (512, 910, 504, 896),
    (490, 882, 504, 896),
    (519, 911, 728, 1288),
    (728, 1280, 728, 1288),
    (714, 1274, 728, 1288),
    (743, 1302, 728, 1288),
    (532, 364, 728, 1288),
    (1080, 1920, 728, 1288),
    (1920, 1080, 728, 1288),
    (3024, 4032, 728, 1288),
    (480, 640, 504, 896),
    (640, 480, 728, 1288),
    (256, 256, 364, 532),
    (512, 512, 504, 896),
    (200, 4000, 728, 1288),
    (300, 900, 504, 896),
    (64, 48, 364, 532),
    (5000, 5000, 728, 1288),
    (360, 640, 504, 896),
    (42, 70, 364, 532),
]
DOCUMENTED_AT_32 = [
    (1, 1, 352, 544),
    (150, 1, 736, 1280),
    (1, 150, 512, 896),
    (364, 532, 352, 544),
    (370, 540, 512, 896),
    (350, 518, 352, 544),
    (378, 546, 512, 896),
    (512, 910, 512, 896),
    (519, 911, 512, 896),
    (728, 1280, 736, 1280),
    (743, 1302, 736, 1280),
    (532, 364, 736, 1280),
    (1080, 1920, 736, 1280),
    (3024, 4032, 736, 1280),
    (480, 640, 512, 896),
    (640, 480, 736, 1280),
    (256, 256, 352, 544),
    (300, 900, 512, 896),
]
MIXED = ((336, 336), (448, 224), (616, 392), (896, 896))
MIXED_AT_28 = [
    (1, 1, 448, 224),
    (150, 1, 896, 896),
    (1, 150, 896, 896),
    (364, 532, 896, 896),
    (448, 224, 448, 224),
    (450, 230, 448, 224),
    (336, 336, 336, 336),
    (350, 350, 336, 336),
    (600, 400, 616, 392),
    (620, 380, 616, 392),
    (900, 900, 896, 896),
    (900, 300, 896, 896),
    (448, 448, 896, 896),
    (500, 250, 616, 392),
    (800, 600, 896, 896),
]
TALL = ((640, 640), (320, 960), (1024, 512))
TALL_AT_32 = [
    (1, 1, 320, 960),
    (150, 1, 1024, 512),
    (640, 640, 640, 640),
    (650, 630, 640, 640),
    (330, 970, 320, 960),
    (1040, 500, 1024, 512),
    (500, 1500, 320, 960),
    (1500, 500, 1024, 512),
    (480, 640, 640, 640),
    (3000, 3000, 640, 640),
    (100, 1000, 320, 960),
    (1000, 100, 1024, 512),
]
RECORDS = [
    (factor, pairs, *record)
    for factor, pairs, records in (
        (28, DOCUMENTED, DOCUMENTED_AT_28),
        (32, DOCUMENTED, DOCUMENTED_AT_32),
        (28, MIXED, MIXED_AT_28),
        (32, TALL, TALL_AT_32),
    )
    for record in records
]


def chosen(height: int, width: int, pairs: tuple[tuple[int, int], ...], factor: int) -> object:
    resolution = RESOLUTIONS[factor]
    heights, widths = tuple(h for h, _ in pairs), tuple(w for _, w in pairs)
    buckets = compile_buckets(heights, widths, resolution)
    bucket = choose(height, width, buckets, resolution, "stretch").bucket
    return bucket.height, bucket.width


def plugin_rule(height: int, width: int, pairs: object, factor: int) -> object:
    """Smart-resize, then the exact bucket, else select_best_resolution of the resized size."""
    limits = (4 * factor**2, 16384 * factor**2)
    snapped = smart_resize(height, width, factor, *limits)
    buckets = [smart_resize(*pair, factor, *limits) for pair in pairs]  # type: ignore[attr-defined]
    return snapped if snapped in buckets else tuple(select_best_resolution(snapped, buckets))


@pytest.mark.parametrize(("factor", "pairs", "height", "width", "h", "w"), RECORDS, ids=str)
def test_recorded_bucket(
    factor: int, pairs: tuple[tuple[int, int], ...], height: int, width: int, h: int, w: int
) -> None:
    assert chosen(height, width, pairs, factor) == (h, w)


sides = st.integers(1, 6000)
pair_lists = st.lists(
    st.tuples(st.integers(28, 2000), st.integers(28, 2000)), min_size=1, max_size=8
).map(tuple)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(height=sides, width=sides, pairs=pair_lists, factor=st.sampled_from([28, 32]))
@example(height=30, width=6000, pairs=((364, 532), (532, 400)), factor=28)
def test_agrees_with_the_plugins_rule(
    height: int, width: int, pairs: tuple[tuple[int, int], ...], factor: int
) -> None:
    if max(height, width) > 200 * min(height, width):
        return
    try:
        result = chosen(height, width, pairs, factor)
    except SettingError as error:
        assert "visual tokens" in error.message, "only colliding buckets may be refused here"
        return
    assert result == plugin_rule(height, width, pairs, factor)


@pytest.mark.parametrize("factor", [28, 32])
def test_agrees_on_ten_thousand_sizes_and_two_hundred_bucket_lists(factor: int) -> None:
    """Choosing by the original size instead of the smart-resized one differs in some 0.4 %."""
    draw = random.Random(factor)
    lists = sizes = 0
    while lists < 200:
        count = draw.randint(1, 6)
        pairs = tuple((draw.randint(56, 1600), draw.randint(56, 1600)) for _ in range(count))
        try:
            chosen(100, 100, pairs, factor)
        except SettingError:
            continue
        lists += 1
        for _ in range(50):
            height = draw.randint(1, 5000)
            width = draw.randint(max(1, height // 150), min(5000, height * 150))
            sizes += 1
            assert chosen(height, width, pairs, factor) == plugin_rule(
                height, width, pairs, factor
            ), (height, width, pairs)
    assert (lists, sizes) == (200, 10_000)
