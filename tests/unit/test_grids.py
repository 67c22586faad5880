"""Rows that cut pictures up or scale them: as many visual tokens as their processors make."""

from __future__ import annotations

from typing import Any

import pytest
from PIL import Image
from transformers import (
    Cohere2VisionImageProcessor,
    Idefics3ImageProcessor,
    PixtralImageProcessor,
    SmolVLMImageProcessor,
)

from backend.catalog import get_model
from backend.placement import Bucket, Placement, Tiles
from backend.plan import make_plan
from backend.settings import read_settings

SIZES = [
    (364, 364), (532, 364), (1080, 1920), (300, 2000), (700, 650), (33, 1999), (4000, 3000),
    (100, 90), (513, 512), (1, 7),
]  # fmt: skip
"""(height, width) in pixels."""


def place(key: str, size: tuple[int, int]) -> Placement:
    return make_plan(read_settings({"model": key, "target": "cuda"})).resolution.place(
        *size, (), "pad"
    )


def processed(processor: Any, size: tuple[int, int], **options: Any) -> Any:
    return processor(Image.new("RGB", size[::-1]), return_tensors="pt", **options)["pixel_values"]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("key", ["idefics3", "smolvlm"])
def test_tiles_along_the_longer_side(key: str, size: tuple[int, int]) -> None:
    """With the sizes that the row gives, or that its model has."""
    side, kind = {
        "idefics3": (364, Idefics3ImageProcessor),
        "smolvlm": (384, SmolVLMImageProcessor),
    }[key]
    given = get_model(key).mm_processor_kwargs
    options = {
        "size": {"longest_edge": 4 * side},
        "max_image_size": {"longest_edge": side},
        **given,
    }
    made = processed(kind(**options), size).shape[1]
    placement = place(key, size)
    assert placement.tiles is not None
    assert placement.bucket.tokens == made * placement.tiles.tokens


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_tiles_of_least_change(size: tuple[int, int]) -> None:
    made = processed(Cohere2VisionImageProcessor(), size).shape[0]
    assert place("command_a_vision", size).bucket.tokens == made * 256


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize(
    ("key", "longest", "patch", "merge"), [("pixtral_hf", 1024, 16, 1), ("mistral3", 1540, 14, 2)]
)
def test_a_shape_that_is_kept(
    key: str, longest: int, patch: int, merge: int, size: tuple[int, int]
) -> None:
    processor = PixtralImageProcessor(size={"longest_edge": longest}, patch_size=patch * merge)
    height, width = processed(processor, size).shape[-2:]
    tokens = (height // patch // merge) * (width // patch // merge)
    assert place(key, size).bucket == Bucket(height, width, None, tokens)


def test_by_hand() -> None:
    """What people are told, for a picture of 1920 x 1080."""
    size = (1080, 1920)
    idefics = place("idefics3", size)
    assert idefics.tiles == Tiles(2, 2, 364, 169, True)
    assert idefics.bucket == Bucket(728, 728, None, 5 * 169)
    assert "longer side becomes 2 tiles of 364 pixels" in idefics.why
    assert place("smolvlm", size).bucket == Bucket(3 * 384, 4 * 384, None, 13 * 81)
    command = place("command_a_vision", size)
    assert command.bucket == Bucket(3 * 512, 4 * 512, None, 13 * 256)
    assert "least change of its size" in command.why
    pixtral = place("pixtral_hf", size)
    assert pixtral.bucket == Bucket(576, 1024, None, 36 * 64)
    assert [loss.kind for loss in pixtral.losses] == ["detail"]
    assert "576x1024" in pixtral.why
    # 1080 x 1540 / 1920 is 866.25; 31 x 28 is 868.
    assert place("mistral3", size).bucket == Bucket(868, 1540, None, 31 * 55)


@pytest.mark.parametrize(
    ("key", "grids"), [("idefics3", 3), ("smolvlm", 7), ("command_a_vision", 35)]
)
def test_every_grid_is_a_size(key: str, grids: int) -> None:
    plan = make_plan(read_settings({"model": key, "target": "cuda"}))
    sizes = {(bucket.height, bucket.width) for bucket in plan.buckets}
    assert len(sizes) == len(plan.buckets) == grids
    for size in SIZES:
        bucket = plan.resolution.place(*size, (), "stretch").bucket
        assert (bucket.height, bucket.width) in sizes
