"""Training batches, made on the CPU from a seed: what to draw, and the tokens about it."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer

from . import answers
from .atlas import Atlas
from .conversations import WEIGHTS, about_several, beyond, each, off_topic, one, who
from .layout import BUCKETS, Layout, grid
from .phrases import PHRASES, typed
from .pictures import Ints, Pictures, make_pictures
from .questions import Turn, ask
from .scene import Scene, random_scene
from .segments import ASK_END, NEXT, Encoder, Segments, opening, picture_ids

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
