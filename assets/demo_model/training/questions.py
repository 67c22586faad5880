"""Questions about one scene, with their answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from . import answers
from .phrases import PHRASES, typed
from .referents import Referent, refer
from .scene import Item, Scene
from .vocabulary import COLORS, SHAPES, article, plural


@dataclass(frozen=True)
class Turn:
    """One question and the right answer."""

    kind: str
    question: str
    answer: str


Words = dict[str, str]
Filled = tuple[str, Words, str]
"""Name of the phrase list, what fills its braces, and the answer."""


def one_or_listed(found: list[Item], noun: str, answer: Callable[[Item], str]) -> str:
    """The answer about the only object meant; none or several are said to be so."""
    if not found:
        return f"There is no {noun}."
    if len(found) > 1:
        return answers.sentence(answers.join([answers.full(item) for item in found]))
    return answer(found[0])


def ask_describe(rng: random.Random, scene: Scene) -> Filled:
    return "describe", {}, answers.describe(scene)


def ask_count(rng: random.Random, scene: Scene) -> Filled:
    return "count", {}, answers.count(len(scene.items), "shape", "shapes")


def ask_count_color(rng: random.Random, scene: Scene) -> Filled:
    color = pick_color(rng, scene, 0.7)
    number = sum(item.color == color for item in scene.items)
    return (
        "count_color",
        {"color": color},
        answers.count(number, f"{color} shape", f"{color} shapes"),
    )


def ask_count_shape(rng: random.Random, scene: Scene) -> Filled:
    shape = pick_shape(rng, scene, 0.75)
    number = sum(item.shape == shape for item in scene.items)
    return "count_shape", {"shapes": plural(shape)}, answers.count_shape(number, shape)


ONLY: Final[dict[str, Callable[[Item], str]]] = {
    "color": lambda item: f"The {item.shape} is {item.color}.",
    "shape": lambda item: answers.sentence(article(item.shape)),
    "where": lambda item: f"The {item.shape} is {answers.at(item.cell)}.",
    "size": lambda item: f"The {item.shape} is {item.size}.",
}
"""Kind -> the answer about `it` or `the shape`, where the picture has one object."""


def ask_only(rng: random.Random, scene: Scene, kind: str) -> Filled | None:
    """A question about the picture's only object that does not name it, now and then."""
    if rng.random() > (0.2 if len(scene.items) == 1 else 0.01):
        return None
    return f"{kind}_only", {}, one_or_listed(list(scene.items), "shape", ONLY[kind])


def ask_color(rng: random.Random, scene: Scene) -> Filled:
    only = ask_only(rng, scene, "color")
    if only is not None:
        return only
    if scene.items and rng.random() < 0.15:
        item = rng.choice(scene.items)
        return "color_at", {"at": answers.at(item.cell)}, f"The {item.shape} is {item.color}."
    shape = pick_shape(rng, scene, 0.93)
    found = [item for item in scene.items if item.shape == shape]
    answer = one_or_listed(found, shape, lambda item: f"The {shape} is {item.color}.")
    return "color", {"shape": shape}, answer


def ask_shape(rng: random.Random, scene: Scene) -> Filled:
    only = ask_only(rng, scene, "shape")
    if only is not None:
        return only
    if scene.items and rng.random() < 0.2:
        item = rng.choice(scene.items)
        return "shape_at", {"at": answers.at(item.cell)}, answers.sentence(article(item.shape))
    color = pick_color(rng, scene, 0.93)
    found = [item for item in scene.items if item.color == color]
    noun = f"{color} shape"
    answer = one_or_listed(found, noun, lambda item: f"The {noun} is {article(item.shape)}.")
    return "shape", {"color": color}, answer


def ask_at(rng: random.Random, scene: Scene) -> Filled | None:
    cell = rng.choice(scene.items).cell if scene.items and rng.random() < 0.8 else rng.randrange(9)
    if scene.word is not None and scene.word.row == cell // 3:
        return None
    found = [item for item in scene.items if item.cell == cell]
    return "thing_at", {"at": answers.at(cell)}, answers.listed(found)


def ask_where(rng: random.Random, scene: Scene) -> Filled:
    only = ask_only(rng, scene, "where")
    if only is not None:
        return only
    referent = refer(rng, scene, 0.06)
    noun = referent.noun

    def answer(item: Item) -> str:
        return f"The {noun} is {answers.at(item.cell)}."

    return "where", {"thing": noun}, one_or_listed(referent.among(scene), noun, answer)


def ask_size(rng: random.Random, scene: Scene) -> Filled:
    only = ask_only(rng, scene, "size")
    if only is not None:
        return only
    named = refer(rng, scene, 0.05)
    referent = Referent(named.shape, named.color, None)
    noun = referent.noun

    def answer(item: Item) -> str:
        return f"The {noun} is {item.size}."

    return "size", {"thing": noun}, one_or_listed(referent.among(scene), noun, answer)


def ask_exists(rng: random.Random, scene: Scene) -> Filled:
    referent = refer(rng, scene, 0.5)
    found = bool(referent.among(scene))
    words = {"a_thing": article(referent.noun), "things": referent.nouns}
    return "exists", words, answers.presence(found, referent.noun)


def ask_background(rng: random.Random, scene: Scene) -> Filled:
    return "background", {}, f"The background is {scene.background.color}."


RELATIONS: Final[dict[str, Callable[[Item, Item], bool]]] = {
    "left": lambda other, item: other.column < item.column,
    "right": lambda other, item: other.column > item.column,
    "above": lambda other, item: other.row < item.row,
    "below": lambda other, item: other.row > item.row,
}
"""Name -> whether `other` lies so from `item`, by columns and rows of the 3 x 3 grid."""

SPOKEN: Final[dict[str, str]] = {
    "left": "left of",
    "right": "right of",
    "above": "above",
    "below": "below",
}


def unique(rng: random.Random, scene: Scene) -> tuple[Item, str] | None:
    """An object and a name that fits it alone."""
    for _ in range(4):
        referent = refer(rng, scene)
        found = referent.among(scene)
        if len(found) == 1:
            return found[0], referent.noun
    return None


def ask_related(rng: random.Random, scene: Scene) -> Filled | None:
    named = unique(rng, scene)
    if named is None:
        return None
    item, noun = named
    relation = rng.choice(tuple(RELATIONS))
    found = [other for other in scene.items if RELATIONS[relation](other, item)]
    if not found and rng.random() < 0.6:
        return None
    return relation, {"thing": noun}, answers.related(noun, item, SPOKEN[relation], found)


def ask_is_related(rng: random.Random, scene: Scene) -> Filled | None:
    first, second = unique(rng, scene), unique(rng, scene)
    if first is None or second is None or first[0] == second[0]:
        return None
    (item, noun), (other, other_noun) = first, second
    true = [name for name, holds in RELATIONS.items() if holds(item, other)]
    opposite = {"left": "right", "right": "left", "above": "below", "below": "above"}
    if not true:
        return None
    holds = rng.choice(true)
    asked = holds if rng.random() < 0.5 else opposite[holds]
    answer = answers.is_related(noun, item, other_noun, other, asked == holds, SPOKEN[holds])
    words = {"thing": noun, "other": other_noun, "relation": SPOKEN[asked]}
    return "is_related", words, answer


def ask_read(rng: random.Random, scene: Scene) -> Filled | None:
    if scene.word is None and rng.random() < 0.7:
        return None
    return "read", {}, answers.reading(scene)


def ask_word_color(rng: random.Random, scene: Scene) -> Filled | None:
    if scene.word is None:
        return None
    return "word_color", {}, f"The word is {scene.word.color}."


def pick_color(rng: random.Random, scene: Scene, present: float) -> str:
    """A color, with probability `present` one that an object has."""
    if scene.items and rng.random() < present:
        return rng.choice(scene.items).color
    return rng.choice(tuple(COLORS))


def pick_shape(rng: random.Random, scene: Scene, present: float) -> str:
    """A shape, with probability `present` one that an object has."""
    if scene.items and rng.random() < present:
        return rng.choice(scene.items).shape
    return rng.choice(SHAPES)


ASK: Final[dict[str, Callable[[random.Random, Scene], Filled | None]]] = {
    "describe": ask_describe,
    "count": ask_count,
    "count_color": ask_count_color,
    "count_shape": ask_count_shape,
    "color": ask_color,
    "shape": ask_shape,
    "at": ask_at,
    "where": ask_where,
    "size": ask_size,
    "exists": ask_exists,
    "background": ask_background,
    "related": ask_related,
    "is_related": ask_is_related,
    "read": ask_read,
    "word_color": ask_word_color,
}
"""Kind of question -> its maker; None where the scene does not lend itself to it."""


def ask(rng: random.Random, scene: Scene, kind: str) -> Turn | None:
    """A question of this kind as someone might type it, or None if it does not fit the scene."""
    filled = ASK[kind](rng, scene)
    if filled is None:
        return None
    phrases, words, answer = filled
    return Turn(kind, typed(rng, rng.choice(PHRASES[phrases]).format(**words)), answer)
