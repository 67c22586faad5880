"""From scenes to the numbers that the GPU renderer draws: sprites and backdrops, as arrays."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .atlas import BASE, CELL, LEFT, LETTERS, MARGIN, Atlas
from .scene import Item, Scene, Word
from .vocabulary import SHAPES, Rgb

SPRITES: Final = 14
"""At most six objects and eight letters."""
SPRITE: Final = 16
"""Numbers a sprite: six of the map from pixels to texels, cell, RGB, box, drawn or not, unused."""
BACKDROP: Final = 24
"""Numbers a picture: content box, pad RGB, RGB, RGB step, gradient, noise, softness; see pack."""

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Frame:
    """Where the picture's content lies in the canvas, in pixels."""

    left: float
    top: float
    width: float
    height: float


def frame_of(
    rng: random.Random, aspect: float, canvas: tuple[int, int], bucket: tuple[int, int], pad: bool
) -> Frame:
    """The content's frame in a canvas, later scaled to a bucket: all of it, or letterboxed."""
    height, width = canvas
    if not pad:
        return Frame(0, 0, width, height)
    bucket_height, bucket_width = bucket
    inner_width = min(bucket_width, bucket_height * aspect) / bucket_width * width
    inner_height = min(bucket_height, bucket_width / aspect) / bucket_height * height
    return Frame((width - inner_width) / 2, (height - inner_height) / 2, inner_width, inner_height)


def unit(rgb: Rgb) -> list[float]:
    return [value / 255 for value in rgb]


def local_map(
    scene: Scene, frame: Frame, x: float, y: float, angle: float, size: float, mirror: float = 1.0
) -> npt.NDArray[np.float64]:
    """[2, 3] canvas pixels to a local frame, turned by `angle`, whose unit is `size`.

    `size` is in units of the original's square root of area.
    """
    root = math.sqrt(scene.aspect)
    turn = math.radians(angle)
    cos, sin = math.cos(turn) / size, math.sin(turn) / size
    x_scale, y_scale = root / frame.width, 1 / root / frame.height
    center_x, center_y = frame.left + x * frame.width, frame.top + y * frame.height
    linear = np.array([[cos * x_scale, sin * y_scale], [-sin * x_scale, cos * y_scale]])
    return np.concatenate([linear, -linear @ [[center_x], [center_y]]], 1)


def box_of(to_texels: npt.NDArray[np.float64]) -> list[float]:
    """The canvas box that the whole cell covers."""
    inverse = np.linalg.inv(to_texels[:, :2])
    corners = np.array([(0, 0), (CELL, 0), (0, CELL), (CELL, CELL)]).T - to_texels[:, 2:]
    places = inverse @ corners
    return [*places.min(1), *places.max(1)]


def sprite(to_texels: npt.NDArray[np.float64], cell: int, rgb: Rgb) -> list[float]:
    return [*to_texels.reshape(-1), cell, *unit(rgb), *box_of(to_texels), 1.0, 0.0]


def item_sprite(scene: Scene, item: Item, frame: Frame) -> list[float]:
    """An object: its unit square spans the cell but for the margin."""
    local = local_map(scene, frame, item.x, item.y, item.angle, item.side)
    to_texels = local * (CELL - 2 * MARGIN)
    to_texels[:, 2] += CELL / 2
    return sprite(to_texels, SHAPES.index(item.shape), item.rgb)


def word_width(atlas: Atlas, word: Word) -> float:
    """Width over the height of a capital."""
    font = word.font % atlas.fonts
    return float(sum(atlas.advance[font, LETTERS.index(c)] for c in word.text))


def word_sprites(scene: Scene, word: Word, frame: Frame, atlas: Atlas) -> list[list[float]]:
    """A word's letters, side by side along its base line."""
    font = word.font % atlas.fonts
    height = word.height / math.sqrt(scene.aspect)
    local = local_map(scene, frame, word.x, word.y, word.angle, height)
    sprites = []
    pen = -word_width(atlas, word) / 2
    for character in word.text:
        to_texels = local.copy()
        to_texels[0, 2] -= pen
        to_texels[1, 2] -= 0.5
        to_texels *= atlas.capital[font]
        to_texels[:, 2] += (LEFT, BASE)
        sprites.append(sprite(to_texels, atlas.letter(font, character), word.rgb))
        pen += float(atlas.advance[font, LETTERS.index(character)])
    return sprites


def draw_list(scene: Scene, frame: Frame, atlas: Atlas) -> Floats:
    """[SPRITES, SPRITE] everything in a scene, the last on top."""
    rows = [item_sprite(scene, item, frame) for item in scene.items]
    if scene.word is not None:
        rows += word_sprites(scene, scene.word, frame, atlas)
    out = np.zeros((SPRITES, SPRITE), np.float32)
    if rows:
        out[: len(rows)] = rows
    return out


def backdrop(rng: random.Random, scene: Scene, frame: Frame, softness: float) -> Floats:
    """[BACKDROP] what lies behind, and how soft the edges are (in pixels)."""
    ground = scene.background
    first, second = unit(ground.first), unit(ground.second)
    along_x, along_y = math.cos(ground.direction), math.sin(ground.direction)
    span = abs(along_x) + abs(along_y)
    slope_x, slope_y = along_x / span / frame.width, along_y / span / frame.height
    middle_x, middle_y = frame.left + frame.width / 2, frame.top + frame.height / 2
    offset = 0.5 - slope_x * middle_x - slope_y * middle_y
    shades = [(0.0, "black"), (0.0, "black"), (0.5, "gray"), (0.5, "gray"), (1.0, "white")]
    shade = rng.choice([value for value, name in shades if name != ground.color])
    step = [b - a for a, b in zip(first, second, strict=True)]
    grain = rng.choice((1.0, 1.0, 1.5, 2.0, 3.0, 5.0))
    edges = [frame.left, frame.top, frame.left + frame.width, frame.top + frame.height]
    out = np.zeros(BACKDROP, np.float32)
    out[:13] = [*edges, shade, shade, shade, *first, *step]
    out[13:20] = [slope_x, slope_y, offset, ground.noise, grain, rng.randrange(1 << 20), softness]
    out[20] = float(rng.random() < 0.5)
    return out
