"""Draws the example pictures that come with Bifocal.

python -m assets.demo_model.training.make_examples assets/examples
"""

from __future__ import annotations

import argparse
import json
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .draw import draw, encode
from .scene import Background, Item, Scene, Word
from .vocabulary import COLORS, PLACES


@dataclass(frozen=True)
class Thing:
    """An object of an example, in words."""

    size: str
    color: str
    shape: str
    place: str


@dataclass(frozen=True)
class Lettering:
    """A word of an example. `height` is that of a capital over the picture's."""

    text: str
    color: str
    row: int
    height: float


@dataclass(frozen=True)
class Example:
    """One picture and the question offered with it."""

    file: str
    title: str
    question: str
    size: tuple[int, int]
    """Width and height, pixels."""
    background: str
    things: tuple[Thing, ...] = ()
    word: Lettering | None = None
    kind: str = "plain"
    note: str = ""
    """What it shows about buckets."""


EXAMPLES: Final[tuple[Example, ...]] = (
    Example(
        "three_shapes.png",
        "Three shapes",
        "Describe this image.",
        (896, 504),
        "white",
        (
            Thing("large", "red", "circle", "middle left"),
            Thing("large", "blue", "star", "center"),
            Thing("large", "green", "square", "middle right"),
        ),
    ),
    Example(
        "six_shapes.png",
        "Six shapes",
        "How many shapes are there?",
        (1200, 800),
        "black",
        (
            Thing("large", "yellow", "star", "top left"),
            Thing("small", "cyan", "ring", "top center"),
            Thing("large", "pink", "heart", "top right"),
            Thing("small", "orange", "diamond", "middle left"),
            Thing("large", "white", "crescent", "bottom center"),
            Thing("small", "green", "cross", "bottom right"),
        ),
    ),
    Example(
        "cafe_sign.png",
        "A sign",
        "What does it say?",
        (800, 600),
        "orange",
        (Thing("small", "white", "heart", "bottom right"),),
        Lettering("CAFE", "black", 1, 0.2),
    ),
    Example(
        "small_print.png",
        "Small print",
        "What does it say?",
        (1280, 720),
        "white",
        (Thing("large", "purple", "arrow", "top left"),),
        Lettering("bifocal", "black", 2, 0.022),
    ),
    Example(
        "portrait.png",
        "Portrait",
        "What is above the star?",
        (480, 720),
        "yellow",
        (
            Thing("large", "brown", "cross", "top center"),
            Thing("large", "blue", "star", "bottom center"),
        ),
    ),
    Example(
        "hearts_and_rings.png",
        "Hearts and rings",
        "How many hearts are there?",
        (640, 480),
        "cyan",
        (
            Thing("large", "red", "heart", "top left"),
            Thing("small", "red", "heart", "top right"),
            Thing("large", "black", "ring", "center"),
            Thing("small", "white", "ring", "bottom left"),
            Thing("large", "purple", "heart", "bottom right"),
        ),
    ),
    Example(
        "banner.png",
        "A wide banner",
        "What is right of the diamond?",
        (1200, 400),
        "blue",
        (
            Thing("large", "yellow", "diamond", "middle left"),
            Thing("small", "white", "arrow", "center"),
        ),
    ),
    Example(
        "gradient.jpg",
        "On a gradient",
        "What color is the background?",
        (720, 540),
        "green",
        (
            Thing("large", "white", "triangle", "top center"),
            Thing("large", "black", "circle", "bottom left"),
        ),
        kind="gradient",
    ),
    Example(
        "house_number.png",
        "A number",
        "What number is shown?",
        (500, 500),
        "red",
        (),
        Lettering("4275", "white", 1, 0.22),
    ),
    Example(
        "noise.jpg",
        "In the noise",
        "Where is the star?",
        (640, 426),
        "gray",
        (
            Thing("large", "orange", "star", "top right"),
            Thing("large", "blue", "crescent", "bottom left"),
            Thing("small", "black", "square", "center"),
        ),
        kind="noisy",
    ),
    Example(
        "thumbnail.png",
        "A thumbnail",
        "What is in this image?",
        (96, 64),
        "purple",
        (Thing("large", "yellow", "triangle", "center"),),
    ),
    Example(
        "square.png",
        "Four corners",
        "Is there a green ring?",
        (600, 600),
        "pink",
        (
            Thing("large", "green", "ring", "top left"),
            Thing("large", "black", "arrow", "top right"),
            Thing("large", "blue", "diamond", "bottom left"),
            Thing("large", "brown", "heart", "bottom right"),
        ),
    ),
    Example(
        "story.png",
        "Shapes and a word",
        "Describe this image.",
        (1288, 728),
        "white",
        (
            Thing("large", "orange", "circle", "top right"),
            Thing("small", "red", "triangle", "middle left"),
            Thing("large", "cyan", "crescent", "middle right"),
        ),
        Lettering("Hello", "blue", 2, 0.12),
    ),
    Example(
        "tall.png",
        "A tall one",
        "What is below the circle?",
        (360, 900),
        "white",
        (
            Thing("large", "pink", "circle", "top center"),
            Thing("small", "green", "star", "center"),
        ),
        note="See it stretched",
    ),
    Example(
        "large_page.png",
        "A large page",
        "What does it say?",
        (3000, 1700),
        "white",
        (Thing("large", "purple", "arrow", "top left"),),
        Lettering("bifocal", "black", 1, 0.011),
        note="See letters get lost",
    ),
)
SIDES: Final = {"small": 0.1, "large": 0.2}


def scene_of(example: Example, rng: random.Random) -> Scene:
    """The scene that the words mean, things in the middle of their cells but for a little."""
    width, height = example.size
    anchors = COLORS[example.background]
    second = anchors[-1] if example.kind == "gradient" else anchors[0]
    noise = 0.05 if example.kind == "noisy" else 0.0
    ground = Background(example.background, example.kind, anchors[0], second, 0.7, noise)
    items = []
    for thing in example.things:
        cell = PLACES.index(thing.place)
        x = (2 * (cell % 3) + 1) / 6 + rng.uniform(-0.025, 0.025)
        y = (2 * (cell // 3) + 1) / 6 + rng.uniform(-0.02, 0.02)
        rgb = COLORS[thing.color][-1]
        side = SIDES[thing.size] * (0.9 if max(width, height) > 2 * min(width, height) else 1.0)
        items.append(Item(thing.shape, thing.color, thing.size, cell, x, y, side, 0.0, rgb))
    word = None
    if example.word is not None:
        text, color, row, tall = (
            example.word.text,
            example.word.color,
            example.word.row,
            example.word.height,
        )
        word = Word(text, color, row, 0.5, (2 * row + 1) / 6, tall, 0, 0, COLORS[color][0])
    items.sort(key=lambda item: item.cell)
    return Scene(width / height, ground, tuple(items), word)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    index = []
    for number, example in enumerate(EXAMPLES):
        rng = random.Random(number)
        picture = draw(scene_of(example, rng), example.size, rng)
        quality = 60 if example.file.endswith(".jpg") else None
        (folder / example.file).write_bytes(encode(picture, quality))
        entry = {"file": example.file, "title": example.title, "question": example.question}
        index.append({**entry, "note": example.note} if example.note else entry)
    # Among the first that a page shows, without another seed for any of them.
    index[4:] = sorted(index[4:], key=lambda entry: "note" not in entry)
    (folder / "index.json").write_text(json.dumps(index, indent=2) + "\n")


if __name__ == "__main__":
    main()
