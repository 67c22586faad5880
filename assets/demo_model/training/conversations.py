"""Conversations: pictures, and what is asked about them in turn."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Final

from . import answers
from .offtopic import random_off_topic
from .phrases import DESCRIBE_NTH, OF_IMAGE, ORDINALS, PHRASES, typed
from .questions import Turn, ask
from .referents import refer
from .scene import Scene
from .vocabulary import article

WEIGHTS: Final[dict[str, float]] = {
    "describe": 3.0,
    "count": 1.0,
    "count_color": 1.0,
    "count_shape": 1.0,
    "color": 1.2,
    "shape": 1.2,
    "at": 0.8,
    "where": 1.5,
    "size": 0.5,
    "exists": 1.2,
    "background": 0.7,
    "related": 1.8,
    "is_related": 0.8,
    "read": 3.0,
    "word_color": 0.3,
    "off_topic": 0.35,
}
"""How often each kind is asked, apart from whether it fits the scene."""

IN_WORLD: Final[tuple[str, ...]] = tuple(kind for kind in WEIGHTS if kind != "off_topic")


def off_topic(rng: random.Random) -> Turn:
    """An unrelated prompt."""
    return Turn("off_topic", typed(rng, random_off_topic(rng)), answers.OFF_TOPIC)


def who(rng: random.Random) -> Turn:
    """A greeting, or a question about the model."""
    return Turn("who", typed(rng, rng.choice(PHRASES["text_who"])), answers.WHO)


def beyond(rng: random.Random, scene: Scene) -> Turn:
    """A question fit for some scene, put to a picture from outside the world."""
    if rng.random() < 0.12:
        return off_topic(rng)
    turn = None
    while turn is None:
        turn = ask(rng, scene, rng.choice(IN_WORLD) if rng.random() < 0.65 else "describe")
    return Turn("beyond", turn.question, answers.BEYOND)


def one(rng: random.Random, scene: Scene, weights: Mapping[str, float] = WEIGHTS) -> Turn:
    """A question about one scene, its kind drawn by weight."""
    while True:
        kind = rng.choices(tuple(weights), tuple(weights.values()))[0]
        if kind == "read" and scene.word is None and rng.random() < 0.8:
            continue
        turn = off_topic(rng) if kind == "off_topic" else ask(rng, scene, kind)
        if turn is not None:
            return turn


def each(rng: random.Random, scenes: Sequence[Scene]) -> Turn:
    """Every picture in turn."""
    question = typed(rng, rng.choice(PHRASES["each"]))
    return Turn("each", question, answers.each(scenes))


def of_image(rng: random.Random, scenes: Sequence[Scene]) -> Turn:
    """A question about one of several pictures."""
    index = rng.randrange(len(scenes))
    names = {"n": str(index + 1), "nth": ORDINALS[index]}
    if rng.random() < 0.35:
        question = rng.choice(DESCRIBE_NTH).format(**names)
        return Turn("nth", typed(rng, question), answers.describe(scenes[index]))
    turn = one(rng, scenes[index])
    while turn.kind in ("off_topic", "describe"):
        turn = one(rng, scenes[index])
    lower = turn.question[0].lower() + turn.question[1:]
    question = rng.choice(OF_IMAGE).format(question=turn.question, lower=lower, **names)
    return Turn("nth", question, turn.answer)


def which(rng: random.Random, scenes: Sequence[Scene]) -> Turn | None:
    """Which of several pictures has a thing; None where more than one has it."""
    index = rng.randrange(len(scenes))
    scene = scenes[index]
    draw = rng.random()
    if draw < 0.12:
        number = answers.count(len(scenes), "image", "images")
        return Turn("images_count", typed(rng, rng.choice(PHRASES["images_count"])), number)
    if draw < 0.3:
        color = scene.background.color
        found = [s.background.color == color for s in scenes]
        question = rng.choice(PHRASES["which_background"]).format(a_color=article(color))
    elif draw < 0.5 and scene.word is not None and scene.word.legible:
        text = scene.word.text
        found = [s.word is not None and s.word.text.lower() == text.lower() for s in scenes]
        question = rng.choice(PHRASES["which_word"]).format(word=text)
    else:
        referent = refer(rng, scene, 0.1)
        found = [bool(referent.among(s)) for s in scenes]
        question = rng.choice(PHRASES["which"]).format(a_thing=article(referent.noun))
        if not any(found):
            return Turn("which", typed(rng, question), f"No image has {article(referent.noun)}.")
    if sum(found) != 1:
        return None
    return Turn("which", typed(rng, question), f"Image {found.index(True) + 1}.")


def about_several(rng: random.Random, scenes: Sequence[Scene]) -> Turn:
    """A question about several pictures."""
    draw = rng.random()
    turn = which(rng, scenes) if draw < 0.5 else None
    if turn is not None:
        return turn
    return off_topic(rng) if draw > 0.98 else of_image(rng, scenes)
