"""How families without buckets look at pictures: at one size, tile by tile, or in their own way.

The engine is given the picture as it is; the family's own processor does what is told here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from backend.anyres import AnyResolution
from backend.bucket_checks import name_pair
from backend.buckets import DynamicResolution
from backend.grids import NEAREST_SHAPE, GridRule
from backend.losses import aspect_change, losses
from backend.placement import Bucket, Fit, Placement, Shaping, Tiles


@dataclass(frozen=True, slots=True)
class FixedResolution:
    """Every picture becomes one size in pixels, and so many visual tokens.

    LLaVA-1.5 has 336 x 336 and 576 tokens, Gemma 3 896 x 896 and 256. With `crops` the processor
    keeps the shape and cuts off what is beside the middle, as CLIP's does; else it stretches.
    """

    height: int
    width: int
    tokens: int
    crops: bool = False

    has_buckets: ClassVar[bool] = False

    def sizes(self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()) -> tuple[Bucket]:
        """The one size."""
        return (Bucket(self.height, self.width, None, self.tokens),)

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """What becomes of an image of this height and width in pixels, whatever the fit."""
        (bucket,) = self.sizes()
        shaping: Shaping = "crop" if self.crops else "stretch"
        how = "cut to its middle" if self.crops else "stretched"
        return Placement(
            bucket,
            shaping,
            aspect_change(height, width, bucket, shaping),
            why=f"The model looks at every picture at {name_pair(bucket)} (height x width); "
            f"its own processor resizes it, {how}.",
            losses=losses(height, width, bucket, shaping),
        )


@dataclass(frozen=True, slots=True)
class TiledResolution:
    """A picture is stretched over a grid of square tiles, each looked at alone, as InternVL does.

    `tile` is a tile's side in pixels, `tokens` its visual tokens. The grid is chosen by `rule`, to
    which `max_tiles` belongs; with `thumbnail` the whole picture is one more tile where there is
    more than one.
    """

    tile: int = 448
    tokens: int = 256
    max_tiles: int = 12
    thumbnail: bool = True
    rule: GridRule = NEAREST_SHAPE

    has_buckets: ClassVar[bool] = False

    def sizes(
        self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()
    ) -> tuple[Bucket, ...]:
        """One for each grid."""
        return tuple(
            self._canvas(rows, columns) for rows, columns in self.rule.every(self.max_tiles)
        )

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """What becomes of an image of this height and width in pixels, whatever the fit."""
        rows, columns = self.rule.choose(height, width, self.tile, self.max_tiles)
        bucket = self._canvas(rows, columns)
        tiles = Tiles(rows, columns, self.tile, self.tokens, self._has_thumbnail(rows, columns))
        return Placement(
            bucket,
            "stretch",
            aspect_change(height, width, bucket, "stretch"),
            why=self._why(tiles),
            losses=losses(height, width, bucket, "stretch"),
            tiles=tiles,
        )

    def _why(self, tiles: Tiles) -> str:
        grid = f"{tiles.rows} x {tiles.columns} tiles (rows x columns)"
        chosen = self.rule.reason.format(grid=grid, side=tiles.side, most=self.max_tiles)
        extra = " and the whole picture once more as a thumbnail" if tiles.thumbnail else ""
        return f"{chosen}; the model looks at each tile{extra}, {tiles.tokens} visual tokens each."

    def _has_thumbnail(self, rows: int, columns: int) -> bool:
        return self.thumbnail and rows * columns > 1

    def _canvas(self, rows: int, columns: int) -> Bucket:
        tiles = rows * columns + self._has_thumbnail(rows, columns)
        return Bucket(rows * self.tile, columns * self.tile, None, tiles * self.tokens)


@dataclass(frozen=True, slots=True)
class ScaledResolution:
    """A picture keeps its shape and is made smaller until no side is longer than `longest` pixels.

    Each side is then rounded up to a multiple of `factor` pixels, a visual token's side. So does
    Pixtral with 1024 and 16, Mistral 3 with 1540 and 28.
    """

    longest: int
    factor: int

    has_buckets: ClassVar[bool] = False

    def sizes(self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()) -> tuple[()]:
        """Too many to be listed."""
        return ()

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """What becomes of an image of this height and width in pixels, whatever the fit."""
        ratio = max(height / self.longest, width / self.longest, 1)
        rows, columns = (
            max(math.ceil(math.floor(side / ratio) / self.factor), 1) for side in (height, width)
        )
        bucket = Bucket(rows * self.factor, columns * self.factor, None, rows * columns)
        return Placement(
            bucket,
            "stretch",
            aspect_change(height, width, bucket, "stretch"),
            why=f"The model takes any shape of up to {self.longest} pixels a side; its own "
            f"processor makes the image {name_pair(bucket)} (height x width).",
            losses=losses(height, width, bucket, "stretch"),
        )


@dataclass(frozen=True, slots=True)
class OwnResolution:
    """The family's processor alone knows what becomes of a picture, and of how many tokens."""

    has_buckets: ClassVar[bool] = False

    def sizes(self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()) -> tuple[()]:
        """None is known."""
        return ()

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """The image as it is, with 0 visual tokens for a number that is not known yet."""
        why = "The model's own processor sizes the picture; only it knows to how many tokens."
        return Placement(Bucket(height, width, None, 0), "stretch", 1.0, why=why)


Resolution = (
    DynamicResolution
    | FixedResolution
    | TiledResolution
    | ScaledResolution
    | AnyResolution
    | OwnResolution
)
"""How a model cuts pictures into visual tokens; all have `has_buckets`, `sizes` and `place`."""
