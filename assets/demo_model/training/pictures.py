"""What a training batch draws: pictures of scenes, some hard to read, and what is in them."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from .atlas import Atlas
from .scene import Scene, random_aspect, random_scene
from .sprites import Floats, backdrop, draw_list, frame_of, word_width
from .words import hard_word

LEGIBLE: Final = (11.0, 7.5)
"""Least height of a capital and width a letter, in pixels, of lettering that can be read."""
ILLEGIBLE: Final = (8.0, 5.5)
"""Lettering with either measure below these cannot be read; between the two it is not drawn."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Pictures:
    """The pictures in one place of the layout, for the whole batch."""

    bucket: tuple[int, int]
    canvas: tuple[int, int]
    """Drawn at this height and width, then scaled to the bucket."""
    sprites: Floats
    backdrops: Floats
    outside: Ints
    """[b] 0 a scene, 1 a photograph, 2 a texture instead."""
    jpeg: Floats
    """[b] JPEG quality, 0 for none."""


@dataclass
class Canvas:
    """A size to draw at, and how that blurs."""

    bucket: tuple[int, int]
    size: tuple[int, int]
    scale: float


def random_canvas(rng: random.Random, bucket: tuple[int, int]) -> Canvas:
    """Mostly the bucket itself; else that of a smaller original which is then enlarged."""
    if rng.random() < 0.62:
        return Canvas(bucket, bucket, 1.0)
    scale = rng.choice((0.25, 0.35, 0.5, 0.5, 0.7, 0.85, 1.25))
    height, width = (max(96, int(side * scale) // 8 * 8) for side in bucket)
    return Canvas(bucket, (height, width), min(1.0, min(height / bucket[0], width / bucket[1])))


def lettering_fits(
    scene: Scene, atlas: Atlas, canvas: Canvas, frame_size: tuple[float, float]
) -> Scene | None:
    """The scene with its word marked legible or not; None if that is in doubt."""
    word = scene.word
    if word is None:
        return scene
    width, height = frame_size
    shrink = min(1.0, canvas.bucket[0] / canvas.size[0])
    tall = word.height * height * shrink
    advance = word_width(atlas, word) / len(word.text)
    wide = word.height * advance / scene.aspect * width * shrink
    if word.height * word_width(atlas, word) / scene.aspect > 0.97:
        return None
    if tall >= LEGIBLE[0] and wide >= LEGIBLE[1]:
        return scene
    if tall < ILLEGIBLE[0] or wide < ILLEGIBLE[1]:
        return replace(scene, word=replace(word, legible=False))
    return None


def harder(rng: random.Random, scene: Scene, tallest: int) -> Scene:
    """The scene with a word that is harder to read: mostly small lettering.

    `tallest` is the picture's height in the bucket, in pixels.
    """
    word = scene.word
    if word is None:
        return scene
    text, height = hard_word(rng), word.height
    if rng.random() < 0.6:
        height = math.exp(rng.uniform(math.log(LEGIBLE[0]), math.log(32))) / tallest
    height = min(height, 0.92 * scene.aspect / (len(text) + 0.2))
    room = max(0.0, 0.47 - 0.5 * len(text) * height / scene.aspect)
    x = min(max(word.x, 0.5 - room), 0.5 + room)
    return replace(scene, word=replace(word, text=text, height=height, x=x))


def make_pictures(
    rng: random.Random, atlas: Atlas, bucket: tuple[int, int], size: int, kind: str,
    most: int | None,
) -> tuple[Pictures, list[Scene]]:  # fmt: skip
    """Pictures for one place of the layout.

    There are none from outside the world where several are shown together.
    """
    plain = kind in ("several", "later")
    share, skip = (0.97, 0.95) if kind == "words" else (0.2 if most else 0.35, 0.6)
    canvas = random_canvas(rng, bucket)
    scenes: list[Scene] = []
    sprites, backdrops, outside, jpeg = [], [], [], []
    noisy = rng.random() < 0.3
    while len(scenes) < size:
        aspect = random_aspect(rng)
        pad = rng.random() < 0.22
        frame = frame_of(rng, aspect, canvas.size, bucket, pad)
        narrow = min(
            frame.width / np.sqrt(aspect), frame.height * np.sqrt(aspect)
        )  # pixels a unit of side
        least = 13.0 / float(narrow)
        if least > 0.24:
            continue
        count = rng.randint(1, most) if most is not None and rng.random() < 0.9 else None
        scene = random_scene(rng, aspect, least, count, share)
        if kind == "words":
            scene = harder(rng, scene, round(frame.height * bucket[0] / canvas.size[0]))
        marked = lettering_fits(scene, atlas, canvas, (frame.width, frame.height))
        if marked is None or (marked.word and not marked.word.legible and rng.random() < skip):
            continue
        if marked.word and most and len(marked.items) > 2:
            continue
        scenes.append(marked)
        sprites.append(draw_list(marked, frame, atlas))
        soft = rng.choice((1.0, 1.0, 1.0, 1.3, 1.8, 2.5)) if canvas.scale == 1 else 1.0
        if marked.word is not None:
            soft = min(soft, 1.3)
        backdrops.append(backdrop(rng, marked, frame, soft))
        outside.append(0 if plain or rng.random() > 0.07 else rng.choice((1, 1, 2)))
        jpeg.append(rng.uniform(35, 95) if noisy and rng.random() < 0.8 else 0.0)
    pictures = Pictures(
        bucket, canvas.size, np.stack(sprites), np.stack(backdrops),
        np.array(outside), np.array(jpeg, np.float32),
    )  # fmt: skip
    return pictures, scenes
