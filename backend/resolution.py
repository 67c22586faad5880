"""How families without buckets look at pictures: at one size, tile by tile, or in their own way.

The engine is given the picture as it is; the family's own processor does what is told here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from backend.bucket_checks import name_pair
from backend.buckets import DynamicResolution
from backend.losses import aspect_change, losses
from backend.types import Bucket, Fit, Placement, Shaping, Tiles


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

    `tile` is a tile's side in pixels, `tokens` its visual tokens. The grid is the one of
    closest aspect among those of 1 to `max_tiles` tiles; with `thumbnail` the whole picture is one
    more tile where there is more than one.
    """

    tile: int = 448
    tokens: int = 256
    max_tiles: int = 12
    thumbnail: bool = True

    has_buckets: ClassVar[bool] = False

    def sizes(
        self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()
    ) -> tuple[Bucket, ...]:
        """One for each grid."""
        from transformers.models.got_ocr2.image_processing_got_ocr2 import (
            get_all_supported_aspect_ratios,
        )

        grids = get_all_supported_aspect_ratios(1, self.max_tiles)
        return tuple(self._canvas(rows, columns) for columns, rows in grids)

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """What becomes of an image of this height and width in pixels, whatever the fit."""
        from transformers.models.got_ocr2.image_processing_got_ocr2 import get_optimal_tiled_canvas

        tile = (self.tile, self.tile)
        columns, rows = get_optimal_tiled_canvas((height, width), tile, 1, self.max_tiles)
        bucket = self._canvas(rows, columns)
        tiles = Tiles(rows, columns, self.tile, self.tokens, self._has_thumbnail(rows, columns))
        return Placement(
            bucket,
            "stretch",
            aspect_change(height, width, bucket, "stretch"),
            why=_why_tiles(tiles, self.max_tiles),
            losses=losses(height, width, bucket, "stretch"),
            tiles=tiles,
        )

    def _has_thumbnail(self, rows: int, columns: int) -> bool:
        return self.thumbnail and rows * columns > 1

    def _canvas(self, rows: int, columns: int) -> Bucket:
        tiles = rows * columns + self._has_thumbnail(rows, columns)
        return Bucket(rows * self.tile, columns * self.tile, None, tiles * self.tokens)


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


Resolution = DynamicResolution | FixedResolution | TiledResolution | OwnResolution
"""How a model cuts pictures into visual tokens; all have `has_buckets`, `sizes` and `place`."""


def _why_tiles(tiles: Tiles, most: int) -> str:
    grid = f"{tiles.rows} x {tiles.columns} tiles (rows x columns)"
    extra = " and the whole picture once more as a thumbnail" if tiles.thumbnail else ""
    return (
        f"Of all grids of up to {most} tiles, {grid} of {tiles.side} pixels come closest to the "
        f"image's shape; the model looks at each tile{extra}, {tiles.tokens} visual tokens each."
    )
