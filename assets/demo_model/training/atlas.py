"""Signed distance fields of the world's shapes and letters.

    python -m assets.demo_model.training.atlas OUT.npz FONT.ttf ...

One cell a shape or letter, 128 x 128 texels; a value is 128 + 8 x (distance to the edge in
texels, positive inside), clipped to a byte. From it a renderer gets sharp, anti-aliased edges at
any scale and stretch.
"""

from __future__ import annotations

import argparse
import math
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFont

from .vocabulary import SHAPES

CELL: Final = 128
MARGIN: Final = 14
"""Empty texels around a shape's unit square."""
FINE: Final = 4
"""Oversampling when a field is made."""
GAIN: Final = 8.0
LETTERS: Final = string.ascii_letters + string.digits
EM: Final = 84
"""Font size in texels; letters stand on BASE."""
BASE: Final = 96
LEFT: Final = 16

Points = list[tuple[float, float]]
Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Atlas:
    """Fields and the measures of letters."""

    cells: Bytes
    """[cells, 128, 128]: first the shapes, then each font's letters."""
    advance: npt.NDArray[np.float32]
    """[fonts, letters] advance widths over the height of a capital."""
    capital: npt.NDArray[np.float32]
    """[fonts] height of a capital, texels."""

    @property
    def fonts(self) -> int:
        return len(self.capital)

    def letter(self, font: int, character: str) -> int:
        """The cell of a letter."""
        return len(SHAPES) + font * len(LETTERS) + LETTERS.index(character)


def outline(shape: str) -> Points:
    """A polygon in the unit square [-1, 1]^2, y down; see `fill` for those that are no polygon."""
    if shape == "square":
        return [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]
    if shape == "triangle":
        return [(0, -0.95), (1, 0.85), (-1, 0.85)]
    if shape == "diamond":
        return [(0, -1), (1, 0), (0, 1), (-1, 0)]
    if shape == "cross":
        a, b = 0.3, 0.95
        return [
            (-a, -b), (a, -b), (a, -a), (b, -a), (b, a), (a, a),
            (a, b), (-a, b), (-a, a), (-b, a), (-b, -a), (-a, -a),
        ]  # fmt: skip
    if shape == "arrow":
        return [
            (-1, -0.3), (0.1, -0.3), (0.1, -0.85), (1, 0), (0.1, 0.85), (0.1, 0.3), (-1, 0.3)
        ]  # fmt: skip
    if shape == "star":
        return [
            (
                (1.0 if i % 2 == 0 else 0.42) * math.sin(i * math.pi / 5),
                -(1.0 if i % 2 == 0 else 0.42) * math.cos(i * math.pi / 5) + 0.08,
            )
            for i in range(10)
        ]
    if shape == "heart":
        points = []
        for i in range(200):
            t = 2 * math.pi * i / 200
            x = 16 * math.sin(t) ** 3
            y = 13 * math.cos(t) - 5 * math.cos(2 * t) - 2 * math.cos(3 * t) - math.cos(4 * t)
            points.append((x / 16.5, -(y + 2.5) / 15.5))
        return points
    raise KeyError(shape)


def fill(draw: ImageDraw.ImageDraw, shape: str, middle: float, half: float) -> None:
    """Draw a shape in white; `half` is half the side of its square, in pixels."""

    def disc(x: float, y: float, radius: float, value: int) -> None:
        cx, cy, r = middle + x * half, middle + y * half, radius * half
        draw.ellipse((cx - r, cy - r, cx + r, cy + r), fill=value)

    if shape in ("circle", "ring", "crescent"):
        disc(0, 0, 0.97, 255)
        if shape == "ring":
            disc(0, 0, 0.56, 0)
        if shape == "crescent":
            disc(0.42, 0, 0.78, 0)
        return
    draw.polygon([(middle + x * half, middle + y * half) for x, y in outline(shape)], fill=255)


def field(mask: Image.Image) -> Bytes:
    """The distance field of a mask drawn at FINE times the cell's size."""
    from scipy.ndimage import distance_transform_edt  # only where an atlas is made

    inside = np.asarray(mask) > 127
    distance = distance_transform_edt(inside) - distance_transform_edt(~inside)
    distance -= 0.5 * np.sign(distance)
    coarse = distance.reshape(CELL, FINE, CELL, FINE).mean((1, 3)) / FINE
    return np.clip(np.round(128 + GAIN * coarse), 0, 255).astype(np.uint8)


def shape_field(shape: str) -> Bytes:
    mask = Image.new("L", (CELL * FINE, CELL * FINE))
    fill(ImageDraw.Draw(mask), shape, CELL * FINE / 2, (CELL / 2 - MARGIN) * FINE)
    return field(mask)


def letter_field(font: ImageFont.FreeTypeFont, character: str) -> Bytes:
    mask = Image.new("L", (CELL * FINE, CELL * FINE))
    draw = ImageDraw.Draw(mask)
    draw.text((LEFT * FINE, BASE * FINE), character, font=font, fill=255, anchor="ls")
    return field(mask)


def build(fonts: list[Path]) -> Atlas:
    """The atlas of all shapes and of the letters of these fonts."""
    cells = [shape_field(shape) for shape in SHAPES]
    advance, capital = [], []
    for path in fonts:
        font = ImageFont.truetype(str(path), EM * FINE)
        box = font.getbbox("H", anchor="ls")
        height = (box[3] - box[1]) / FINE
        cells += [letter_field(font, character) for character in LETTERS]
        advance.append([font.getlength(c) / FINE / height for c in LETTERS])
        capital.append(height)
    return Atlas(np.stack(cells), np.float32(advance), np.float32(capital))  # type: ignore[arg-type]


def save(atlas: Atlas, path: Path) -> None:
    np.savez_compressed(path, cells=atlas.cells, advance=atlas.advance, capital=atlas.capital)


def load(path: Path) -> Atlas:
    with np.load(path) as data:
        return Atlas(data["cells"], data["advance"], data["capital"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("fonts", type=Path, nargs="+", help="TrueType files")
    arguments = parser.parse_args()
    save(build(arguments.fonts), arguments.out)


if __name__ == "__main__":
    main()
