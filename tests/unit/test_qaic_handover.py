"""What the decoder on QAIC is given, parsed as the plugin parses it (by its simulation)."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from PIL import Image

from backend.catalog import ROWS
from backend.engines.qaic import block
from tests.qaic_simulation.processor import SimulatedParser
from tests.qaic_simulation.rules import CardError

SIZES = {247: (364, 532), 576: (504, 896)}


@pytest.fixture
def parser() -> SimulatedParser:
    return SimulatedParser(2, sizes=SIZES, patch=14)


def rows(tokens: int) -> torch.Tensor:
    return torch.zeros(tokens, 8)


@pytest.mark.parametrize("images", [1, 2, 3])
def test_images_of_one_size(parser: SimulatedParser, images: int) -> None:
    items = parser._parse_image_data(block([rows(576)] * images, takes_grid=True))
    assert items.get_count() == images
    assert items.get(0)["image_grid_thw"].tolist() == [1, 36, 64]


@pytest.mark.parametrize("tokens", [[247, 576], [100], [247, 247, 576]])
def test_other_rows_are_refused(parser: SimulatedParser, tokens: list[int]) -> None:
    with pytest.raises(CardError, match="match none of the compiled sizes"):
        parser._parse_image_data(block([rows(n) for n in tokens], takes_grid=True))


def test_a_bare_tensor_is_not_for_qwen(parser: SimulatedParser) -> None:
    with pytest.raises(CardError, match="image_embeds with image_grid_thw"):
        parser._parse_image_data(block([rows(247)], takes_grid=False))


def test_only_compiled_sizes_reach_the_encoder(parser: SimulatedParser) -> None:
    assert parser._parse_image_data(Image.new("RGB", (532, 364))).get_count() == 1
    with pytest.raises(CardError, match="no compiled size"):
        parser._parse_image_data(Image.new("RGB", (533, 364)))


def test_other_families_take_the_bare_rows() -> None:
    two: Any = block([rows(576), rows(576)], takes_grid=False)
    assert two.shape == (2, 576, 8)
    tiles: Any = block([rows(256), rows(512)], takes_grid=False)
    assert [len(image) for image in tiles] == [256, 512]


def test_which_families_take_a_grid() -> None:
    """Those that the plugin has a parser of its own for."""
    parsed = {"Qwen2_5_VLForConditionalGeneration", "Qwen3VLForConditionalGeneration"}
    for row in ROWS:
        assert row.qaic.takes_grid == (row.architecture in parsed), row.key
