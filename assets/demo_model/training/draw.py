"""Drawing scenes with Pillow: the renderer of the evaluation and the examples.

It shares nothing with the training's renderer but the shapes' outlines: polygons and real font
rendering, oversampled and scaled down.
"""

from __future__ import annotations

import io
import math
import random
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

from .atlas import outline
from .scene import Background, Item, Scene, Word
from .vocabulary import Rgb

FONTS: Final[tuple[str, ...]] = (
    "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf",
    "/usr/share/fonts/truetype/open-sans/OpenSans-Semibold.ttf",
)
"""Used where present, beside the font inside Pillow. None of the three is in the training."""


@cache
def fonts() -> tuple[Path | None, ...]:
    """The fonts at hand; None stands for Pillow's own."""
    return (None, *(path for path in map(Path, FONTS) if path.exists()))


@cache
def load_font(number: int, size: int) -> ImageFont.FreeTypeFont:
    path = fonts()[number % len(fonts())]
    if path is not None:
        return ImageFont.truetype(str(path), size)
    font = ImageFont.load_default(size)
    if not isinstance(font, ImageFont.FreeTypeFont):
        raise RuntimeError("Pillow was built without FreeType")
    return font


def capital_size(number: int, height: float) -> int:
    """The font size, in pixels, at which a capital is so many pixels high."""
    box = load_font(number, 200).getbbox("H", anchor="ls")
    return max(4, round(200 * height / (box[3] - box[1])))


def word_box(word: Word, size: tuple[int, int]) -> tuple[float, float]:
    """Width of the word and height of a capital, in pixels, in a picture of this size."""
    height = word.height * size[1]
    font = load_font(word.font, 200)
    box = font.getbbox("H", anchor="ls")
    return font.getlength(word.text) / (box[3] - box[1]) * height, height


def ground(scene: Background, size: tuple[int, int], rng: random.Random) -> Image.Image:
    """The background alone."""
    width, height = size
    along = math.cos(scene.direction), math.sin(scene.direction)
    span = abs(along[0]) + abs(along[1])
    x = (np.arange(width) + 0.5) / width - 0.5
    y = (np.arange(height) + 0.5) / height - 0.5
    share = 0.5 + (along[0] * x[None] + along[1] * y[:, None]) / span
    first, second = np.array(scene.first, float), np.array(scene.second, float)
    pixels = first + (second - first) * share[..., None]
    if scene.noise > 0:
        noise = np.random.default_rng(rng.randrange(1 << 30)).normal(size=(height, width, 1))
        pixels = pixels + 255 * scene.noise * noise
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def item_mask(item: Item, scene: Scene, size: tuple[int, int], fine: int) -> Image.Image:
    """Where an object covers the picture, anti-aliased by oversampling."""
    width, height = size[0] * fine, size[1] * fine
    half = item.side * math.sqrt(width * height) / 2
    # Shapes fill their cell in the training's atlas as they do here: half a side is 1.
    turn = math.radians(item.angle)
    cos, sin = math.cos(turn), math.sin(turn)
    middle_x, middle_y = item.x * width, item.y * height

    def place(x: float, y: float) -> tuple[float, float]:
        return middle_x + half * (x * cos - y * sin), middle_y + half * (x * sin + y * cos)

    mask = Image.new("L", (width, height))
    draw = ImageDraw.Draw(mask)

    def disc(x: float, y: float, radius: float, value: int) -> None:
        steps = [2 * math.pi * i / 90 for i in range(90)]
        points = [place(x + radius * math.cos(t), y + radius * math.sin(t)) for t in steps]
        draw.polygon(points, fill=value)

    if item.shape in ("circle", "ring", "crescent"):
        disc(0, 0, 0.97, 255)
        if item.shape == "ring":
            disc(0, 0, 0.56, 0)
        if item.shape == "crescent":
            disc(0.42, 0, 0.78, 0)
    else:
        draw.polygon([place(x, y) for x, y in outline(item.shape)], fill=255)
    return mask.resize(size, Image.Resampling.BOX)


def write_word(picture: Image.Image, word: Word) -> None:
    """Letter the picture, turned about the word's middle."""
    width, height = picture.size
    font = load_font(word.font, capital_size(word.font, word.height * height))
    layer = Image.new("L", picture.size)
    middle = (word.x * width, word.y * height)
    base = middle[1] + word.height * height / 2
    ImageDraw.Draw(layer).text((middle[0], base), word.text, font=font, fill=255, anchor="ms")
    if word.angle:
        layer = layer.rotate(-word.angle, Image.Resampling.BICUBIC, center=middle)
    picture.paste(word.rgb, mask=layer)


def draw(scene: Scene, size: tuple[int, int], rng: random.Random) -> Image.Image:
    """The scene at this width and height."""
    picture = ground(scene.background, size, rng)
    fine = 4 if max(size) <= 1500 else 2
    for item in scene.items:
        picture.paste(item.rgb, mask=item_mask(item, scene, size, fine))
    if scene.word is not None:
        write_word(picture, scene.word)
    return picture


def blur(picture: Image.Image, radius: float) -> Image.Image:
    return picture.filter(ImageFilter.GaussianBlur(radius)) if radius else picture


def encode(picture: Image.Image, quality: int | None) -> bytes:
    """A JPEG file of this quality, or a PNG file."""
    out = io.BytesIO()
    if quality is None:
        picture.save(out, "PNG")
    else:
        picture.save(out, "JPEG", quality=quality)
    return out.getvalue()


def solid(rgb: Rgb, size: tuple[int, int]) -> Image.Image:
    return Image.new("RGB", size, rgb)
