"""The names of the demo model's world: colors, shapes, sizes, places.

Colors are sampled between anchors, so that a name covers a region and not a point; regions of
two names keep clear of each other. Shapes stay distinct when a picture is stretched.
"""

from __future__ import annotations

import random
from typing import Final

Rgb = tuple[int, int, int]

COLORS: Final[dict[str, tuple[Rgb, ...]]] = {
    "red": ((255, 0, 0), (220, 20, 50), (230, 40, 40), (205, 15, 25)),
    "orange": ((255, 165, 0), (255, 140, 0), (245, 130, 30)),
    "yellow": ((255, 255, 0), (250, 220, 30), (245, 230, 70)),
    "green": ((0, 128, 0), (0, 220, 0), (40, 160, 60), (60, 179, 100)),
    "cyan": ((0, 255, 255), (50, 205, 220), (0, 190, 205)),
    "blue": ((0, 0, 255), (40, 80, 210), (30, 50, 170), (65, 105, 225)),
    "purple": ((128, 0, 128), (130, 50, 170), (148, 0, 211), (150, 80, 195)),
    "pink": ((255, 180, 200), (255, 105, 180), (245, 140, 190)),
    "brown": ((139, 69, 19), (120, 72, 40), (150, 80, 20), (110, 60, 30)),
    "black": ((0, 0, 0), (20, 20, 20), (30, 30, 34)),
    "gray": ((128, 128, 128), (112, 114, 116), (150, 150, 150)),
    "white": ((255, 255, 255), (242, 242, 242), (250, 248, 244)),
}
"""Color name -> anchors (RGB, 0 to 255)."""

SHAPES: Final[tuple[str, ...]] = (
    "circle",
    "square",
    "triangle",
    "star",
    "heart",
    "diamond",
    "cross",
    "ring",
    "crescent",
    "arrow",
)

SIZES: Final[tuple[str, ...]] = ("small", "large")

PLACES: Final[tuple[str, ...]] = (
    "top left",
    "top center",
    "top right",
    "middle left",
    "center",
    "middle right",
    "bottom left",
    "bottom center",
    "bottom right",
)
"""The nine cells of a picture, in reading order: cell = 3 * row + column."""

ROWS: Final[tuple[str, ...]] = ("at the top", "in the middle", "at the bottom")

TOO_CLOSE: Final[frozenset[frozenset[str]]] = frozenset(
    frozenset(pair) for pair in (("pink", "white"), ("black", "brown"), ("yellow", "white"))
)
"""Pairs never drawn one upon the other, because they hardly show."""


def plural(shape: str) -> str:
    """The plural of a shape's name."""
    return f"{shape}es" if shape == "cross" else f"{shape}s"


def article(noun: str) -> str:
    """The noun phrase with its indefinite article."""
    return f"an {noun}" if noun[0] in "aeiou" else f"a {noun}"


def sample_color(rng: random.Random, name: str) -> Rgb:
    """A shade that anyone would call by this name."""
    first, second = rng.choices(COLORS[name], k=2)
    mix = rng.random()
    shade = [a + (b - a) * mix + rng.uniform(-8, 8) for a, b in zip(first, second, strict=True)]
    red, green, blue = (max(0, min(255, round(value))) for value in shade)
    return red, green, blue


def shows_on(color: str, background: str) -> bool:
    """Whether a thing of one color is plainly visible on the other."""
    return color != background and frozenset((color, background)) not in TOO_CLOSE
