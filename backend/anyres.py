"""AnyResolution: a picture in parts of any number, as LLaVA-NeXT and its successors look at one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from backend.bucket_checks import name_pair
from backend.heavy_imports import heavy_imports
from backend.losses import losses
from backend.placement import Bucket, Fit, Placement, Tiles


@dataclass(frozen=True, slots=True)
class AnyResolution:
    """A picture is padded into one of several sizes and cut into tiles, each looked at alone.

    What is padding has no visual tokens; every line of the others ends with one more, and the whole
    picture comes first as a tile of its own. As upstream's `get_num_image_tokens` counts.
    """

    tile: int
    """A tile's side in pixels."""

    patches: int
    """Visual tokens along it."""

    grids: tuple[tuple[int, int], ...]
    """Sizes, in tiles: (rows, columns), in the order of the model's config."""

    most: int | None = None
    """The most tiles' worth of tokens; rows of more are averaged. None where there is no limit."""

    has_buckets: ClassVar[bool] = False

    def sizes(self, heights: tuple[int, ...] = (), widths: tuple[int, ...] = ()) -> tuple[()]:
        """None is known: how many tokens a size has depends on what of it is padding."""
        return ()

    def place(
        self, height: int, width: int, buckets: Sequence[Bucket] = (), fit: Fit = "stretch"
    ) -> Placement:
        """What becomes of an image of this height and width in pixels, whatever the fit."""
        with heavy_imports():
            from transformers.image_processing_utils import select_best_resolution
        sizes = [(rows * self.tile, columns * self.tile) for rows, columns in self.grids]
        best: tuple[int, int] = select_best_resolution((height, width), sizes)
        rows, columns = best[0] // self.tile, best[1] // self.tile
        tokens = self.patches**2 + self._tokens(height, width, rows, columns)
        bucket = Bucket(*best, None, tokens)
        return Placement(
            bucket,
            "pad",
            1.0,
            why=f"Of the model's {len(sizes)} sizes, {name_pair(bucket)} (height x width) keeps "
            f"most of the image and wastes least; it is looked at as {rows} x {columns} tiles "
            "(rows x columns) and once as a whole. What is padding has no tokens.",
            losses=losses(height, width, bucket, "pad"),
            tiles=Tiles(rows, columns, self.tile, self.patches**2, True),
        )

    def _tokens(self, height: int, width: int, rows: int, columns: int) -> int:
        """Visual tokens of the tiles: those that are not padding, and one for each line."""
        down, across = rows * self.patches, columns * self.patches
        if width / height > across / down:
            down -= 2 * ((down - int(round(height * (across / width), 7))) // 2)
        else:
            across -= 2 * ((across - int(round(width * (down / height), 7))) // 2)
        if self.most is not None:
            ratio = math.sqrt(down * across / (self.most * self.patches**2))
            if ratio > 1.1:
                down, across = int(down // ratio), int(across // ratio)
        return down * across + down
