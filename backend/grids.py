"""GridRule: how a family chooses the grid of square tiles that a picture is stretched over."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from backend.heavy_imports import heavy_imports

Grid = tuple[int, int]
"""Rows and columns of tiles."""


@dataclass(frozen=True, slots=True)
class GridRule:
    """One way; `most` is the most tiles of a grid, or those along a picture's longer side."""

    choose: Callable[[int, int, int, int], Grid]
    """The grid of a picture of this height and width, for a tile's side (all in pixels) and the
    most tiles."""

    every: Callable[[int], tuple[Grid, ...]]
    """All grids of up to so many tiles."""

    reason: str
    """Why it is that grid, with `{grid}`, `{side}` in pixels and `{most}`."""


def _nearest_shape(height: int, width: int, side: int, most: int) -> Grid:
    with heavy_imports():
        from transformers.models.got_ocr2.image_processing_got_ocr2 import get_optimal_tiled_canvas

    columns, rows = get_optimal_tiled_canvas((height, width), (side, side), 1, most)
    return rows, columns


def _least_enlarged(height: int, width: int, side: int, most: int) -> Grid:
    with heavy_imports():
        from transformers.models.cohere2_vision.image_processing_cohere2_vision import (
            get_optimal_tiled_canvas,
        )

    columns, rows = get_optimal_tiled_canvas((height, width), (side, side), 1, most)
    return rows, columns


def _along_the_longer_side(height: int, width: int, side: int, most: int) -> Grid:
    """As transformers' Idefics3: the longer side is set, the other follows, in even pixels."""
    longer, shorter = max(height, width), min(height, width)
    follows = int(most * side / (longer / shorter))
    follows += follows % 2
    across = max(math.ceil(follows / side), 1)
    return (across, most) if width >= height else (most, across)


def _up_to(most: int) -> tuple[Grid, ...]:
    """Fewest tiles first."""
    counted = range(1, most + 1)
    grids = ((rows, columns) for rows in counted for columns in counted if rows * columns <= most)
    return tuple(sorted(grids, key=lambda grid: grid[0] * grid[1]))


def _of_side(most: int) -> tuple[Grid, ...]:
    shorter = range(1, most + 1)
    return tuple({(other, most) for other in shorter} | {(most, other) for other in shorter})


NEAREST_SHAPE = GridRule(
    _nearest_shape,
    _up_to,
    "Of all grids of up to {most} tiles, {grid} of {side} pixels come closest to the image's shape",
)
"""InternVL's."""

LEAST_ENLARGED = GridRule(
    _least_enlarged,
    _up_to,
    "Of all grids of up to {most} tiles, {grid} of {side} pixels hold the image with the least "
    "change of its size",
)
"""Command A Vision's: the grid into which the image goes with least enlargement, or shrinking."""

LONGER_SIDE = GridRule(
    _along_the_longer_side,
    _of_side,
    "The longer side becomes {most} tiles of {side} pixels, which makes {grid}",
)
"""Idefics3's and SmolVLM's."""
