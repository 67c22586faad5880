"""Pictures for a bench: each of other content, in files, at exactly one size."""

from __future__ import annotations

import random
from pathlib import Path

from PIL import Image, ImageDraw

SHAPES = 4
COLOURS = ("red", "green", "blue", "yellow", "purple", "orange")


class Pictures:
    """Draws pictures that nobody has seen before, as files in a folder.

    They are `height` x `width` pixels, a size that the model takes as it is, so that no side of a
    comparison has to resize them.
    """

    def __init__(self, folder: Path, height: int, width: int, seed: int) -> None:
        self._folder, self._height, self._width = folder, height, width
        self._random = random.Random(seed)
        self._drawn = 0

    def new(self, count: int) -> list[Path]:
        """The next `count` pictures."""
        return [self._draw() for _ in range(count)]

    def _draw(self) -> Path:
        draw_from = self._random
        ground = tuple(draw_from.randrange(200, 256) for _ in range(3))
        picture = Image.new("RGB", (self._width, self._height), ground)
        pen = ImageDraw.Draw(picture)
        side = min(self._height, self._width) // 4
        for _ in range(SHAPES):
            x, y = draw_from.randrange(self._width - side), draw_from.randrange(self._height - side)
            shape = pen.ellipse if draw_from.random() < 0.5 else pen.rectangle
            shape((x, y, x + side, y + side), fill=draw_from.choice(COLOURS))
        # Twice the same drawing is still two pictures.
        picture.putpixel((self._drawn % self._width, self._drawn // self._width), (0, 0, 0))
        path = self._folder / f"picture-{self._drawn:05}.png"
        self._drawn += 1
        picture.save(path, compress_level=1)
        return path
