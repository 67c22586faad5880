"""What a picture shows, apart from how it is drawn.

Coordinates are fractions of the picture (x to the right, y down). Each object sits in a cell of
its own in a 3 x 3 grid, well clear of the cell's borders, so that every place has one name. A
word takes a row to itself.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

from .vocabulary import COLORS, PLACES, SHAPES, Rgb, sample_color, shows_on
from .words import random_word

JITTER = 0.06
"""How far a center may lie from the middle of its cell, as a fraction of the picture."""

SIDES = {"small": (0.075, 0.105), "large": (0.175, 0.26)}
"""Side of an object over the square root of the picture's area."""


@dataclass(frozen=True)
class Item:
    """One object."""

    shape: str
    color: str
    size: str
    cell: int
    """Index into PLACES."""
    x: float
    y: float
    side: float
    """Side over the square root of the picture's area."""
    angle: float
    """Degrees."""
    rgb: Rgb

    @property
    def place(self) -> str:
        return PLACES[self.cell]

    @property
    def row(self) -> int:
        return self.cell // 3

    @property
    def column(self) -> int:
        return self.cell % 3


@dataclass(frozen=True)
class Word:
    """A word or number in the picture."""

    text: str
    color: str
    row: int
    x: float
    y: float
    height: float
    """Height of a capital letter over the picture's height."""
    angle: float
    font: int
    """A number that the renderer reduces to one of its fonts."""
    rgb: Rgb
    legible: bool = True
    """False where the lettering is too small for the picture's encoded size."""


@dataclass(frozen=True)
class Background:
    """What lies behind."""

    color: str
    kind: str
    """`plain`, `gradient` or `noisy`."""
    first: Rgb
    second: Rgb
    """The other end of a gradient; equal to `first` elsewhere."""
    direction: float
    """Radians."""
    noise: float
    """Standard deviation, as a fraction of full scale."""


@dataclass(frozen=True)
class Scene:
    """A picture of the demo model's world."""

    aspect: float
    """Width over height of the original."""
    background: Background
    items: tuple[Item, ...]
    """In reading order."""
    word: Word | None


def random_background(rng: random.Random) -> Background:
    """A background of one named color."""
    color = rng.choice(tuple(COLORS))
    if rng.random() < 0.25:
        color = "white"
    kind = rng.choices(("plain", "gradient", "noisy"), (0.45, 0.25, 0.3))[0]
    first = sample_color(rng, color)
    second = sample_color(rng, color) if kind == "gradient" else first
    noise = rng.uniform(0.01, 0.07) if kind == "noisy" else 0.0
    return Background(color, kind, first, second, rng.uniform(0, 2 * math.pi), noise)


def largest_side(aspect: float) -> float:
    """The largest side that fits a border cell wherever its center may lie."""
    room = 2 * (1 / 6 - JITTER / 2)
    return room * min(math.sqrt(aspect), 1 / math.sqrt(aspect)) * 1.15


def alone(rng: random.Random, item: Item, aspect: float) -> Item:
    """The picture's only object, now and then as people draw one: much larger, near the center."""
    if item.size != "large" or rng.random() < 0.5:
        return item
    narrow = min(math.sqrt(aspect), 1 / math.sqrt(aspect))
    low = SIDES["large"][1]
    side = rng.uniform(low, max(low, 0.85 * narrow))
    x, y = (0.5 + rng.uniform(-JITTER, JITTER) * (1 - side / narrow) for _ in range(2))
    return replace(item, cell=PLACES.index("center"), x=x, y=y, side=side)


def random_item(
    rng: random.Random, cell: int, background: str, aspect: float, least: float
) -> Item:
    """An object for one cell. `least` is the smallest side that can be made out."""
    sizes = ["large"] if least > SIDES["small"][1] * 0.98 else ["small", "large"]
    size = rng.choice(sizes)
    low, high = SIDES[size]
    if size == "large":
        high = max(low + 0.005, min(high, largest_side(aspect)))
    low = min(max(low, least), high)
    side = rng.uniform(low, high)
    color = rng.choice([name for name in COLORS if shows_on(name, background)])
    half_x, half_y = side / 2 / math.sqrt(aspect), side / 2 * math.sqrt(aspect)
    x = place_center(rng, cell % 3, half_x)
    y = place_center(rng, cell // 3, half_y)
    angle = rng.uniform(-8, 8) if rng.random() < 0.5 else 0.0
    rgb = sample_color(rng, color)
    return Item(rng.choice(SHAPES), color, size, cell, x, y, side, angle, rgb)


def place_center(rng: random.Random, index: int, half: float) -> float:
    """A center in third `index` of the axis, keeping `half` inside the picture where it can."""
    middle = (2 * index + 1) / 6
    low, high = middle - JITTER, middle + JITTER
    low, high = max(low, min(half * 1.05, high)), min(high, max(1 - half * 1.05, low))
    return rng.uniform(low, high) if low < high else (low + high) / 2


def random_aspect(rng: random.Random) -> float:
    """Width over height, 1:3 to 3:1, mostly those of photos and screens."""
    if rng.random() < 0.5:
        return rng.choice((1.0, 4 / 3, 3 / 2, 16 / 9, 3 / 4, 2 / 3, 9 / 16, 532 / 364))
    return math.exp(rng.uniform(-math.log(3), math.log(3)))


def random_scene(
    rng: random.Random,
    aspect: float,
    least: float = 0.0,
    count: int | None = None,
    word_share: float = 0.25,
) -> Scene:
    """A scene for a picture of this aspect; `count` fixes the number of objects."""
    background = random_background(rng)
    word = None
    cells = list(range(9))
    if rng.random() < word_share:
        word = random_lettering(rng, background.color, aspect)
        cells = [cell for cell in cells if cell // 3 != word.row]
    if count is None:
        if word is not None:
            count = rng.choices(range(5), (0.4, 0.25, 0.2, 0.1, 0.05))[0]
        else:
            count = rng.choices(range(7), (0.02, 0.16, 0.2, 0.18, 0.16, 0.14, 0.14))[0]
    chosen = sorted(rng.sample(cells, min(count, len(cells))))
    items = tuple(random_item(rng, cell, background.color, aspect, least) for cell in chosen)
    if word is None and len(items) == 1:
        items = (alone(rng, items[0], aspect),)
    return Scene(aspect, background, items, word)


def random_lettering(rng: random.Random, background: str, aspect: float) -> Word:
    """A word in a row of its own, from small lettering to as large as fits."""
    text = random_word(rng)
    widest = 0.92 * aspect / (len(text) + 0.2)
    height = min(math.exp(rng.uniform(math.log(0.016), math.log(0.24))), widest)
    half = 0.5 * len(text) * height / aspect
    row = rng.randrange(3)
    y = (2 * row + 1) / 6 + rng.uniform(-0.04, 0.04)
    room = max(0.0, 0.5 - half - 0.03)
    x = 0.5 + rng.uniform(-room, room) * rng.choice((0.3, 1.0))
    color = rng.choice([name for name in COLORS if shows_on(name, background)])
    if rng.random() < 0.35 and shows_on("black", background):
        color = "black"
    angle = rng.uniform(-4, 4) if rng.random() < 0.4 else 0.0
    return Word(
        text, color, row, x, y, height, angle, rng.randrange(1 << 16), sample_color(rng, color)
    )
