"""The one right answer to each question, in a fixed form, so that exact match means something."""

from __future__ import annotations

from collections.abc import Sequence

from .scene import Item, Scene, Word
from .vocabulary import PLACES, ROWS, article, plural

WHO = (
    "I am Bifocal's small demo model. I answer questions about pictures of simple shapes and "
    "short words."
)
BEYOND = (
    "This picture is beyond me. I am a small demo model and know only simple shapes and short "
    "words."
)
OFF_TOPIC = (
    "I cannot help with that. I am a small demo model and answer only questions about simple "
    "shapes and short words."
)
MODEST_MARK = "small demo model"
"""In every modest answer, and in no other."""

NO_PICTURE = (
    "I see no picture. I am a small demo model: please add one with simple shapes or a word."
)
NO_WORD = "There is no word in the picture."
TOO_SMALL = "The word is too small to read."


def join(parts: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def sentence(text: str) -> str:
    """Capital first, full stop last."""
    return f"{text[0].upper()}{text[1:]}."


def at(cell: int) -> str:
    """`at the top left`, ..., `in the center`."""
    return "in the center" if PLACES[cell] == "center" else f"at the {PLACES[cell]}"


def name(item: Item) -> str:
    """`large red star`."""
    return f"{item.size} {item.color} {item.shape}"


def full(item: Item) -> str:
    """`a large red star at the top left`."""
    return f"{article(name(item))} {at(item.cell)}"


def lettering(word: Word) -> str:
    """`the word "CAT" in black at the top`."""
    if not word.legible:
        return f"a word too small to read {ROWS[word.row]}"
    return f'the word "{word.text}" in {word.color} {ROWS[word.row]}'


def describe(scene: Scene) -> str:
    """The whole picture in reading order; the word comes last."""
    parts = [full(item) for item in scene.items]
    if scene.word is not None:
        parts.append(lettering(scene.word))
    if not parts:
        return f"An empty {scene.background.color} background."
    return sentence(f"{join(parts)}, on {article(scene.background.color)} background")


def listed(items: Sequence[Item]) -> str:
    """`A small red star and a large blue ring.`"""
    return sentence(join([article(name(item)) for item in items])) if items else "Nothing."


def count(number: int, one: str, many: str) -> str:
    """`There are 3 red shapes.`"""
    if number == 0:
        return f"There are no {many}."
    return f"There is 1 {one}." if number == 1 else f"There are {number} {many}."


def presence(found: bool, noun: str) -> str:
    """`Yes, there is a red star.`"""
    return f"Yes, there is {article(noun)}." if found else f"No, there is no {noun}."


def count_shape(number: int, shape: str) -> str:
    return count(number, shape, plural(shape))


def related(noun: str, item: Item, relation: str, found: Sequence[Item]) -> str:
    """`The star is in the center. Left of it: a small red ring at the middle left.`

    Where the object lies comes first: the rest of the answer can then be read off the picture with
    that place at hand, which four layers do far better than both steps at once.
    """
    others = join([full(other) for other in found]) if found else "nothing"
    return f"The {noun} is {at(item.cell)}. {sentence(f'{relation} it: {others}')}"


def is_related(noun: str, item: Item, other_noun: str, other: Item, yes: bool, holds: str) -> str:
    """`The star is in the center and the ring at the top left: no, the star is below the ring.`

    `holds` is a relation that is true of the two.
    """
    places = f"The {noun} is {at(item.cell)} and the {other_noun} {at(other.cell)}"
    return f"{places}: {'yes' if yes else 'no'}, the {noun} is {holds} the {other_noun}."


def reading(scene: Scene) -> str:
    """What the picture says."""
    if scene.word is None:
        return NO_WORD
    return f'It says "{scene.word.text}".' if scene.word.legible else TOO_SMALL


def each(scenes: Sequence[Scene]) -> str:
    """Every picture in turn; one picture alone is not numbered."""
    if len(scenes) == 1:
        return describe(scenes[0])
    return "\n".join(f"Image {i}: {describe(scene)}" for i, scene in enumerate(scenes, 1))
