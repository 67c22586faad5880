"""Evaluation cases: fresh pictures drawn with Pillow, questions, and the right answers.

Pure functions of a seed. The pictures are files as a person would give them, of sizes that lead to
the bucket wanted; cases about the same picture share it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Literal

from PIL import Image

from . import answers, conversations
from .draw import blur, draw, encode, word_box
from .layout import BUCKETS
from .offtopic import random_off_topic
from .phrases import PHRASES, typed
from .pictures import ILLEGIBLE, LEGIBLE
from .questions import ask
from .scene import Scene, random_aspect, random_scene
from .words import random_word

Size = tuple[int, int]
Fit = Literal["stretch", "pad"]
Choose = Callable[[int, int], Size]
"""Height and width of a picture -> the bucket that it is given."""


@dataclass(frozen=True)
class Case:
    """A conversation whose last question is to be answered."""

    line: str
    """The line of the report it counts in."""
    bucket: Size | None
    """Where its first picture belongs; None without pictures."""
    pictures: tuple[bytes, ...]
    """Files, PNG or JPEG; those of the first turn."""
    turns: tuple[str, ...]
    """Questions and answers in turn, ending with a question."""
    expected: str
    """The right answer, or `modest` where any modest answer is right."""
    fit: Fit = "stretch"
    system: str = ""


MODEST: Final = "modest"
FITS: Final[tuple[Fit, Fit]] = ("stretch", "pad")
KINDS: Final[dict[str, tuple[str, ...]]] = {
    "count": ("count", "count_color", "count_shape"),
    "color": ("color",),
    "shape": ("shape",),
    "where": ("where",),
    "yes or no": ("exists",),
    "background": ("background",),
    "size": ("size",),
    "at a place": ("at",),
    "describe": ("describe",),
    "relations": ("related", "is_related"),
}
"""Line of the report -> kinds of questions."""


def random_size(rng: random.Random, aspect: float, bucket: Size, choose: Choose) -> Size | None:
    """A picture's width and height, of this aspect, that leads to the bucket; None if not found."""
    for _ in range(40):
        area = math.exp(rng.uniform(math.log(110 * 110), math.log(2400 * 1800)))
        width, height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if min(width, height) >= 64 and choose(height, width) == bucket:
            return width, height
    return None


def pixels_a_side(size: Size, bucket: Size, fit: Fit) -> float:
    """The least pixels, in the picture or its bucket, that a unit of side comes to."""
    width, height = size
    root = math.sqrt(width * height)
    if fit == "pad":
        shrink = min(bucket[1] / width, bucket[0] / height)
        return root * min(1.0, shrink)
    return root * min(1.0, bucket[1] / width, bucket[0] / height)


def is_legible(scene: Scene, size: Size, bucket: Size, fit: Fit = "stretch") -> bool | None:
    """Whether the word can be read in its bucket; None if that is in doubt."""
    if scene.word is None:
        return True
    wide, tall = word_box(scene.word, size)
    if wide > 0.97 * size[0]:
        return None
    across, down = min(1.0, bucket[1] / size[0]), min(1.0, bucket[0] / size[1])
    if fit == "pad":
        across = down = min(across, down)
    wide, tall = wide / len(scene.word.text) * across, tall * down
    if tall >= LEGIBLE[0] and wide >= LEGIBLE[1]:
        return True
    return False if tall < ILLEGIBLE[0] or wide < ILLEGIBLE[1] else None


@dataclass(frozen=True)
class Drawn:
    """A scene and its picture."""

    scene: Scene
    file: bytes
    size: Size


def picture(
    rng: random.Random, bucket: Size, choose: Choose, fit: Fit = "stretch",
    count: int | None = None, word_share: float = 0.0,
) -> Drawn:  # fmt: skip
    """A random scene, drawn at a random size for the bucket and saved with random losses."""
    while True:
        aspect = random_aspect(rng)
        size = random_size(rng, aspect, bucket, choose)
        if size is None:
            continue
        least = 14.0 / pixels_a_side(size, bucket, fit)
        if least > 0.24:
            continue
        scene = random_scene(rng, size[0] / size[1], least, count, word_share)
        if not scene.items and scene.word is None:
            continue
        if is_legible(scene, size, bucket, fit) is not True:
            continue
        return Drawn(scene, save(rng, scene, size), size)


def save(rng: random.Random, scene: Scene, size: Size, losses: bool = True) -> bytes:
    """Draw, blur a little or not, and encode as PNG or JPEG."""
    drawn = draw(scene, size, rng)
    if losses and scene.word is None and min(size) > 300 and rng.random() < 0.2:
        drawn = blur(drawn, rng.uniform(0.4, 1.0))
    return encode(drawn, rng.randint(60, 95) if losses and rng.random() < 0.4 else None)


def world_cases(seed: int, bucket: Size, scenes: int, choose: Choose, fit: Fit) -> list[Case]:
    """Every kind of question about single scenes, `scenes` of each kind."""
    rng = random.Random(f"world {seed} {bucket} {fit}")
    left = dict.fromkeys(KINDS, scenes)
    cases: list[Case] = []
    while any(left.values()):
        shown = picture(rng, bucket, choose, fit, word_share=0.1)
        for kind in [kind for kind, count in left.items() if count]:
            turn = ask(rng, shown.scene, rng.choice(KINDS[kind]))
            if turn is not None:
                left[kind] -= 1
                cases.append(Case(kind, bucket, (shown.file,), (turn.question,), turn.answer, fit))
    return cases


def word_cases(seed: int, bucket: Size, count: int, choose: Choose) -> list[Case]:
    """Reading lettering that the bucket resolves."""
    rng = random.Random(f"words {seed} {bucket}")
    cases: list[Case] = []
    while len(cases) < count:
        shown = picture(rng, bucket, choose, word_share=1.0)
        turn = ask(rng, shown.scene, "read")
        if turn is not None:
            cases.append(Case("words", bucket, (shown.file,), (turn.question,), turn.answer))
    return cases


def small_print_cases(seed: int, count: int, size: Size = (1280, 720)) -> list[Case]:
    """The same small lettering through every bucket; right is to read it, whatever the bucket.

    The pictures are larger than the small bucket: whoever asks must choose the bucket (by offering
    only one).
    """
    rng = random.Random(f"small print {seed}")
    cases: list[Case] = []
    while len(cases) < count * len(BUCKETS):
        scene = random_scene(rng, size[0] / size[1], count=rng.randint(0, 2), word_share=1.0)
        if scene.word is None:
            continue
        word = replace(scene.word, height=rng.uniform(0.0165, 0.022), text=random_word(rng))
        scene = replace(scene, word=word)
        if is_legible(scene, size, BUCKETS[2]) is not True:
            continue
        if is_legible(scene, size, BUCKETS[0]) is not False:
            continue
        file = save(rng, scene, size, losses=False)
        question = rng.choice(PHRASES["read"])
        for bucket in BUCKETS:
            right = f'It says "{word.text}".'
            cases.append(Case("small lettering", bucket, (file,), (question,), right))
    return cases


def same_scene_cases(seed: int, count: int) -> list[Case]:
    """The same pictures through every bucket, stretched and letterboxed, the answer the same.

    Whoever asks must choose the bucket, by offering only one. What is shown can be made out in the
    smallest bucket, letterboxed too. The line of a case tells its bucket and fit apart by itself.
    """
    rng = random.Random(f"same {seed}")
    smallest = BUCKETS[0]
    kinds = [kind for line in KINDS.values() for kind in line] + ["read"]
    cases: list[Case] = []
    while len(cases) < count * len(BUCKETS) * 2:
        kind = rng.choice(kinds)
        share = 1.0 if kind == "read" else 0.1
        shown = picture(rng, smallest, lambda height, width: smallest, "pad", word_share=share)
        if is_legible(shown.scene, shown.size, smallest) is not True:
            continue
        turn = ask(rng, shown.scene, kind)
        if turn is None:
            continue
        for bucket in BUCKETS:
            for fit in FITS:
                asked = (turn.question,)
                cases.append(Case("same scene", bucket, (shown.file,), asked, turn.answer, fit))
    return cases


def several_cases(seed: int, bucket: Size, count: int, choose: Choose) -> list[Case]:
    """Two to four pictures: each in turn, and which one has a thing."""
    rng = random.Random(f"several {seed} {bucket}")
    cases: list[Case] = []
    while len(cases) < 2 * count:
        number = rng.choice((2, 2, 3, 4))
        shown = [picture(rng, bucket, choose, count=rng.randint(1, 3)) for _ in range(number)]
        scenes = [one.scene for one in shown]
        files = tuple(one.file for one in shown)
        every = conversations.each(rng, scenes)
        cases.append(Case("each image", bucket, files, (every.question,), every.answer))
        turn = None
        while turn is None or turn.kind == "images_count":
            turn = conversations.which(rng, scenes)
        cases.append(Case("which image", bucket, files, (turn.question,), turn.answer))
    return cases


def follow_up_cases(seed: int, bucket: Size, count: int, choose: Choose) -> list[Case]:
    """The second or third question of a conversation, some under a system prompt."""
    rng = random.Random(f"follow {seed} {bucket}")
    systems = ("", "", "You are a helpful assistant.", "Answer as a poet would.")
    cases: list[Case] = []
    while len(cases) < count:
        shown = picture(rng, bucket, choose)
        turns = [conversations.one(rng, shown.scene) for _ in range(rng.choice((2, 3)))]
        if any(turn.kind == "off_topic" for turn in turns):
            continue
        said = [text for turn in turns[:-1] for text in (turn.question, turn.answer)]
        last = turns[-1]
        cases.append(
            Case(
                "follow-up", bucket, (shown.file,), (*said, last.question), last.answer,
                system=rng.choice(systems),
            )
        )  # fmt: skip
    return cases


def photo_cases(
    seed: int, bucket: Size, count: int, choose: Choose, paths: Sequence[Path]
) -> list[Case]:
    """Questions about crops of these photographs."""
    rng = random.Random(f"photo {seed} {bucket}")
    cases: list[Case] = []
    while paths and len(cases) < count:
        with Image.open(rng.choice(paths)) as opened:
            photo = opened.convert("RGB")
        share = rng.uniform(0.5, 1.0)
        width, height = round(photo.width * share), round(photo.height * share)
        left, top = rng.randint(0, photo.width - width), rng.randint(0, photo.height - height)
        size = random_size(rng, width / height, bucket, choose)
        if size is None:
            continue
        crop = photo.crop((left, top, left + width, top + height)).resize(size)
        file = encode(crop, rng.randint(70, 95))
        scene = random_scene(rng, 1.0, word_share=0.3)
        turn = conversations.beyond(rng, scene)
        cases.append(Case("photographs", bucket, (file,), (turn.question,), MODEST))
    return cases


def off_topic_cases(seed: int, count: int, choose: Choose) -> list[Case]:
    """Unrelated prompts, half of them beside a picture; and greetings."""
    rng = random.Random(f"off {seed}")
    cases: list[Case] = []
    for number in range(count):
        if number % 2:
            file = picture(rng, BUCKETS[number // 2 % 3], choose).file
            prompt = typed(rng, random_off_topic(rng, evaluation=True))
            cases.append(Case("off-topic", BUCKETS[number // 2 % 3], (file,), (prompt,), MODEST))
        elif number % 4 == 0:
            prompt = typed(rng, random_off_topic(rng, evaluation=True))
            cases.append(Case("off-topic", None, (), (prompt,), MODEST))
        else:
            cases.append(Case("greetings", None, (), (conversations.who(rng).question,), MODEST))
    return cases


def same_text(said: str, expected: str) -> bool:
    """Equal but for case, punctuation and spacing; `modest` accepts every modest answer."""
    if expected == MODEST:
        return answers.MODEST_MARK in said
    return bare(said) == bare(expected)


def bare(text: str) -> Sequence[str]:
    """The words alone, in small letters."""
    kept = "".join(c if c.isalnum() else " " for c in text.lower())
    return kept.split()
