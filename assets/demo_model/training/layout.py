"""Where everything stands: the order of patches in a picture, and of tokens in a sequence.

A training sequence is a prefix (system turn, pictures) and several segments that do not see each
other: every segment holds a short conversation about the same pictures. So one encoding of a
picture serves many first questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

PATCH: Final = 14
UNIT: Final = 28
"""Side of a visual token (2 x 2 patches), pixels."""
WINDOW: Final = 4
"""Side of an attention window of the vision tower, visual tokens."""

BUCKETS: Final[tuple[tuple[int, int], ...]] = ((364, 532), (504, 896), (728, 1288))
"""Height and width, pixels."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class WindowOrder:
    """The window by window order in which the vision tower keeps a picture's visual tokens."""

    units: Ints
    """[n] for each place in window order, the row-by-row index of its visual token."""
    back: Ints
    """[n] the inverse permutation."""
    lengths: tuple[int, ...]
    """Number of visual tokens in each window."""


def grid(bucket: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of visual tokens."""
    return bucket[0] // UNIT, bucket[1] // UNIT


@cache
def window_order(bucket: tuple[int, int]) -> WindowOrder:
    """Windows in reading order; those at the right and lower edge may be smaller."""
    rows, columns = grid(bucket)
    index = np.arange(rows * columns).reshape(rows, columns)
    windows = [
        index[top : top + WINDOW, left : left + WINDOW].reshape(-1)
        for top in range(0, rows, WINDOW)
        for left in range(0, columns, WINDOW)
    ]
    units = np.concatenate(windows)
    return WindowOrder(units, np.argsort(units), tuple(len(window) for window in windows))


@cache
def patch_positions(bucket: tuple[int, int]) -> Ints:
    """[4 n, 2] row and column of every patch, in window order."""
    _, columns = grid(bucket)
    unit = window_order(bucket).units
    top, left = 2 * (unit // columns), 2 * (unit % columns)
    inner = np.array([(0, 0), (0, 1), (1, 0), (1, 1)])
    return (np.stack([top, left], 1)[:, None] + inner[None]).reshape(-1, 2)


@dataclass(frozen=True)
class Layout:
    """The common shape of all sequences of a batch."""

    before: tuple[int, ...]
    """Number of text tokens before each picture."""
    pictures: tuple[tuple[int, int], ...]
    """The buckets of the pictures, in order."""
    after: int
    """Number of text tokens of the prefix after the last picture."""
    segments: tuple[int, ...]
    """Length of each segment, padding included."""

    @property
    def visual(self) -> int:
        return sum(rows * columns for rows, columns in map(grid, self.pictures))

    @property
    def prefix(self) -> int:
        return sum(self.before) + self.visual + self.after

    @property
    def length(self) -> int:
        return self.prefix + sum(self.segments)


def picture_slots(layout: Layout) -> Ints:
    """[visual] where in the prefix the visual tokens stand."""
    slots, at = [], 0
    for text, bucket in zip(layout.before, layout.pictures, strict=True):
        rows, columns = grid(bucket)
        slots.append(np.arange(rows * columns) + at + text)
        at += text + rows * columns
    return np.concatenate(slots) if slots else np.zeros(0, np.int64)


def positions(layout: Layout) -> Ints:
    """[3, length] time, row and column positions as in M-RoPE; every segment starts anew."""
    parts, start = [], 0
    for text, bucket in zip(layout.before, layout.pictures, strict=True):
        parts.append(np.tile(np.arange(text) + start, (3, 1)))
        start += text
        rows, columns = grid(bucket)
        row, column = np.divmod(np.arange(rows * columns), columns)
        parts.append(np.stack([np.zeros_like(row), row, column]) + start)
        start += max(rows, columns)
    parts.append(np.tile(np.arange(layout.after) + start, (3, 1)))
    start += layout.after
    parts += [np.tile(np.arange(length) + start, (3, 1)) for length in layout.segments]
    return np.concatenate(parts, 1)
