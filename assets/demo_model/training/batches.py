"""Training batches, made on the CPU from a seed: what to draw, and the tokens about it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from . import answers
from .atlas import Atlas
from .conversations import WEIGHTS, about_several, beyond, each, off_topic, one, who
from .layout import BUCKETS, Layout, grid
from .phrases import PHRASES, system_prompt, typed
from .questions import Turn, ask
from .scene import Scene, random_aspect, random_scene
from .sprites import Floats, backdrop, draw_list, frame_of, word_width
from .tokenizer import ENDOFTEXT, IM_END, IMAGE_PAD
from .words import hard_word

KINDS: Final[tuple[str, ...]] = (
    *WEIGHTS, "beyond", "each", "nth", "which", "images_count", "who", "no_picture"
)  # fmt: skip
PATCHES: Final = 240_000
"""Patches in a batch, about."""
SINGLE: Final = (112, 128, 88, 80, 64, 64, 64, 64, 64)
SEVERAL: Final = (304, 120, 80, 80, 80, 80, 80)
LENGTHS: Final[dict[str, tuple[int, ...]]] = {
    "several": SEVERAL,
    "text": (64,) * 8,
    "words": (64, 64, 80),
    "text_first": (160, 160, 112, 112),
}
"""Kind of batch -> lengths of its segments, if not SINGLE."""
EMPHASIS: Final = {**WEIGHTS, "related": 5.0, "is_related": 3.5, "color": 2.2, "shape": 2.2}
"""How often each kind is asked in training: what is hard to learn, more often."""
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


@dataclass(frozen=True)
class Batch:
    """Everything the trainer needs for one step."""

    layout: Layout
    pictures: tuple[Pictures, ...]
    tokens: npt.NDArray[np.int16]
    """[b, length]"""
    where: Ints
    """[t] flat places whose next token is part of an answer."""
    targets: Ints
    """[t] those next tokens."""
    turn: Ints
    """[t] which question each target belongs to."""
    kinds: Ints
    """[questions] index into KINDS."""


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


class Encoder:
    """Text to token numbers, remembering what it has seen."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.text = cache(self.encode)

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text, add_special_tokens=False).ids)


ASK_END: Final = "<|im_end|>\n<|im_start|>assistant\n"
NEXT: Final = "\n<|im_start|>user\n"


@dataclass
class Segments:
    """Collects the segments of a batch."""

    encoder: Encoder
    layout: Layout
    rows: list[list[int]]
    where: list[int]
    targets: list[int]
    turn: list[int]
    kinds: list[int]

    def add(self, turns: list[Turn], length: int, ask_first: bool = True) -> bool:
        """Append a conversation to the last row; False if it is too long."""
        ids: list[int] = []
        places: list[int] = []
        numbers: list[int] = []
        for i, turn in enumerate(turns):
            question = turn.question + ASK_END if i or ask_first else ASK_END
            ids += self.encoder.encode((NEXT if i else "") + question)
            answer = [*self.encoder.encode(turn.answer), IM_END]
            places += range(len(ids) - 1, len(ids) + len(answer) - 1)
            numbers += [len(self.kinds) + i] * len(answer)
            self.targets += answer
            ids += answer
        if len(ids) > length:
            del self.targets[len(self.targets) - len(places) :]
            return False
        base = (len(self.rows) - 1) * self.layout.length + len(self.rows[-1])
        self.where += [base + place for place in places]
        self.turn += numbers
        self.kinds += [KINDS.index(turn.kind) for turn in turns]
        self.rows[-1] += ids + [ENDOFTEXT] * (length - len(ids))
        return True


def picture_ids(bucket: tuple[int, int]) -> list[int]:
    rows, columns = grid(bucket)
    return [IMAGE_PAD] * (rows * columns)


def opening(rng: random.Random) -> str:
    """A system turn or none, and the start of the user's."""
    if rng.random() < 0.5:
        return "<|im_start|>user\n"
    return f"<|im_start|>system\n{system_prompt(rng)}<|im_end|>\n<|im_start|>user\n"


def make_batch(
    seed: tuple[int, ...], kind: str, bucket: tuple[int, int], atlas: Atlas, tokenizer: Tokenizer
) -> Batch:
    """A batch of one kind: `single`, `words`, `several`, `text`, `text_first` or `later`.

    `seed` ends with the GPU's number, on which the layout does not depend.
    """
    rng, shared = random.Random(hash(seed)), random.Random(hash(seed[:-1]))
    encoder = Encoder(tokenizer)
    start = opening(shared)
    buckets = {
        "text": (),
        "several": choose_buckets(shared, bucket),
        "later": (bucket, bucket),
    }.get(kind, (bucket,))
    patches = sum(4 * rows * columns for rows, columns in map(grid, buckets)) + 1200
    size = max(8, PATCHES // patches)
    most = {2: 4, 3: 3, 4: 3}.get(len(buckets)) if kind == "several" else None
    drawn = [make_pictures(rng, atlas, one_, size, kind, most) for one_ in buckets]
    first = shared.choice(FIRST_QUESTIONS) if kind == "text_first" else None
    pieces, after = prefix(shared, first, start, len(buckets))
    if kind == "later":
        looks = [make_intro(scene) for scene in drawn[0][1]]
        texts = [[pieces[0], f"<|vision_end|>{look}{NEXT}<|vision_start|>"] for look in looks]
    else:
        texts = [pieces] * size
    lengths = LENGTHS.get(kind, SINGLE)
    before = tuple(len(encoder.encode(piece)) for piece in texts[0])
    layout = Layout(before, buckets, len(encoder.encode(after)), lengths)
    out = Segments(encoder, layout, [], [], [], [], [])
    for b in range(size):
        row: list[int] = []
        for piece, one_ in zip(texts[b], buckets, strict=True):
            row += encoder.encode(piece) + picture_ids(one_)
        out.rows.append(row + encoder.encode(after))
        if len(out.rows[-1]) != layout.prefix:
            raise ValueError("prefixes of a batch differ in length")
        scenes = [part[1][b] for part in drawn]
        strange = bool(buckets) and drawn[-1][0].outside[b] > 0
        for s, length in enumerate(lengths):
            while not out.add(
                draw_turns(rng, kind, s, scenes, strange, first), length, first is None
            ):
                pass
    tokens = np.array(out.rows, np.int16)
    return Batch(
        layout, tuple(part[0] for part in drawn), tokens,
        np.array(out.where), np.array(out.targets), np.array(out.turn), np.array(out.kinds),
    )  # fmt: skip


def choose_buckets(rng: random.Random, bucket: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Two to four pictures, of one size half of the time."""
    count = rng.choices((2, 3, 4), (0.45, 0.3, 0.25))[0]
    if rng.random() < 0.6:
        return (bucket,) * count
    other = rng.choice(BUCKETS)
    pictures = [bucket] * (count - 1) + [other]
    rng.shuffle(pictures)
    return tuple(pictures)


FIRST_QUESTIONS: Final = ("describe", "read", "count", "background")


def prefix(rng: random.Random, first: str | None, start: str, count: int) -> tuple[list[str], str]:
    """The text before each picture, and that after the last.

    `first` is the kind of a question that stands before the picture.
    """
    if count == 0:
        return [], start
    if first is not None:
        question = typed(rng, rng.choice(PHRASES[first]))
        return [f"{start}{question}<|vision_start|>"], "<|vision_end|>"
    pieces = [start + "<|vision_start|>", *["<|vision_end|><|vision_start|>"] * (count - 1)]
    return pieces, "<|vision_end|>" + rng.choice(("", "", "", "", "\n"))


def make_intro(scene: Scene) -> str:
    """A first exchange about an earlier picture, the same number of tokens for every scene."""
    color = scene.background.color
    return f"What color is the background?{ASK_END}The background is {color}.<|im_end|>"


def draw_turns(
    rng: random.Random, kind: str, segment: int, scenes: list[Scene], strange: bool,
    first: str | None,
) -> list[Turn]:  # fmt: skip
    """The conversation of one segment."""
    if kind == "text":
        if rng.random() < 0.3:
            turn = one(rng, random_scene(rng, 1.0))
            if turn.kind == "off_topic":
                return [turn]
            return [Turn("no_picture", turn.question, answers.NO_PICTURE)]
        return [who(rng) if rng.random() < 0.4 else off_topic(rng)]
    scene = scenes[-1]
    if strange:
        if first is not None:
            return [Turn("beyond", "", answers.BEYOND)]
        return [beyond(rng, scene)]
    if first is not None:
        more = [one(rng, scene, EMPHASIS)] if segment < 2 else []
        return [first_answer(first, scene), *more]
    if kind == "several":
        if segment == 0:
            more = [about_several(rng, scenes)] if rng.random() < 0.6 else []
            return [each(rng, scenes), *more]
        return [about_several(rng, scenes) for _ in range(2 if segment == 1 else 1)]
    if kind == "words" and segment == 0:
        read = ask(rng, scene, "read")
        if read is not None:
            return [read]
    if segment == 0 and rng.random() < 0.8:
        described = ask(rng, scene, "describe")
        if described is not None:
            return [described]
    if segment == 1:
        turns = [one(rng, scene, EMPHASIS) for _ in range(rng.choice((2, 3)))]
        return turns if rng.random() < 0.9 else [who(rng), *turns[:1]]
    return [one(rng, scene, EMPHASIS)]


def first_answer(kind: str, scene: Scene) -> Turn:
    """The answer to a question that stands before the picture."""
    made = {
        "describe": answers.describe(scene),
        "read": answers.reading(scene),
        "count": answers.count(len(scene.items), "shape", "shapes"),
        "background": f"The background is {scene.background.color}.",
    }
    return Turn(kind, "", made[kind])
