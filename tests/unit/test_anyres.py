"""LLaVA-NeXT and OneVision: as many visual tokens as their processors count."""

from __future__ import annotations

from typing import Any

import pytest
from transformers import (
    LlavaNextImageProcessor,
    LlavaNextProcessor,
    LlavaOnevisionImageProcessor,
    LlavaOnevisionProcessor,
    LlavaOnevisionVideoProcessor,
)

from backend.anyres import AnyResolution
from backend.catalog import get_model
from backend.placement import Bucket, Placement, Tiles
from tests.unit.test_grids import SIZES
from tests.unit.tiny_tokenizers import byte_level


def place(key: str, size: tuple[int, int]) -> Placement:
    resolution = get_model(key).resolution
    assert isinstance(resolution, AnyResolution)
    return resolution.place(*size)


@pytest.fixture(scope="module")
def processors() -> dict[str, Any]:
    """With the published models' sizes; all but one are transformers' own defaults."""
    tokenizer = byte_level(("<image>", "<video>"))
    return {
        "llava-next": LlavaNextProcessor(
            LlavaNextImageProcessor(size={"shortest_edge": 336}),
            tokenizer,
            patch_size=14,
            vision_feature_select_strategy="default",
            num_additional_image_tokens=1,
        ),
        "llava-onevision": LlavaOnevisionProcessor(
            LlavaOnevisionImageProcessor(),
            tokenizer,
            LlavaOnevisionVideoProcessor(),
            num_image_tokens=729,
            vision_feature_select_strategy="full",
        ),
    }


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("key", ["llava-next", "llava-onevision"])
def test_as_many_tokens_as_the_processor_counts(
    key: str, size: tuple[int, int], processors: dict[str, Any]
) -> None:
    counted = processors[key]._get_num_multimodal_tokens(image_sizes=[list(size)])
    assert place(key, size).bucket.tokens == counted["num_image_tokens"][0]


def test_by_hand() -> None:
    """672 x 672 is two by two tiles of 24 x 24, with 48 lines, and the whole."""
    square = place("llava-next", (672, 672))
    assert square.bucket == Bucket(672, 672, None, 576 + 48 * 48 + 48)
    assert square.tiles == Tiles(2, 2, 336, 576, True)
    assert (square.fit, square.aspect_change) == ("pad", 1.0)
    assert "672x672" in square.why
    assert "5 sizes" in square.why
    # 1080 x 1920 in 672 x 672: 27 of 48 lines are picture, and of 21 an odd one counts as well.
    wide = place("llava-next", (1080, 1920))
    assert wide.bucket == Bucket(672, 672, None, 576 + 28 * 48 + 28)


def test_rows_of_many_tiles_are_averaged() -> None:
    """Six by six tiles have the tokens of at most nine."""
    large = place("llava-onevision", (2304, 2304))
    assert (large.bucket.height, large.bucket.width) == (2304, 2304)
    assert large.bucket.tokens == 729 + 81 * 81 + 81
