"""Words and numbers that appear in pictures: 1 to 8 letters, or 1 to 8 digits.

Letters and digits are never mixed, nor capitals and small letters but for an initial, so that
look-alikes (O and 0, l and I) cannot be mistaken.
"""

from __future__ import annotations

import random
import string
from typing import Final

COMMON: Final[tuple[str, ...]] = tuple(
    """
    open stop exit sale hello world cafe tea milk bread fish book music hotel taxi bus train left
    right push pull yes no free new hot cold north south east west apple lemon house garden river
    moon sun sky tree bird cat dog horse tiger zebra piano guitar school park bank shop pizza sushi
    coffee sugar honey water fire earth wind winter summer spring autumn monday friday sunday red
    black gold silver danger slow fast welcome please thanks ticket gate menu lunch dinner quiz jazz
    kayak vivid oxygen jungle wizard quick brown fox jumps over lazy box mix fix wax joy key ivy
    bifocal lens camera vision pixel token model demo data code""".split()  # noqa: SIM905
)


LOOK_ALIKES: Final[frozenset[str]] = frozenset("ilo01")


def random_word(rng: random.Random) -> str:
    """A word that cannot be mistaken for another."""
    while True:
        text = any_word(rng)
        mixed = text.startswith("I") and text != text.upper()
        if not mixed and not LOOK_ALIKES.issuperset(text.lower()):
            return text


def any_word(rng: random.Random) -> str:
    """A word, a made-up string of letters, or a number."""
    draw = rng.random()
    length = rng.choices(range(1, 9), (1, 2, 3, 3, 3, 2.5, 2, 2))[0]
    if draw < 0.22:
        return "".join(rng.choices(string.digits, k=length))
    if draw < 0.5:
        letters = rng.choice(COMMON)
    elif draw < 0.75:
        letters = pronounceable(rng, length)
    else:
        letters = "".join(rng.choices(string.ascii_lowercase, k=length))
    case = rng.random()
    if case < 0.55:
        return letters.upper()
    return letters.capitalize() if case < 0.75 else letters


def pronounceable(rng: random.Random, length: int) -> str:
    """Consonants and vowels in turn."""
    sets = ("bcdfghjklmnprstvwxz", "aeiouy")
    start = rng.randrange(2)
    return "".join(rng.choice(sets[(start + i) % 2]) for i in range(length))


def hard_word(rng: random.Random) -> str:
    """For training: as `random_word`, but often long, and often with a letter twice in a row."""
    text = random_word(rng)
    while len(text) < 4 and rng.random() < 0.6:
        text = random_word(rng)
    if len(text) in range(2, 8) and rng.random() < 0.3:
        at = rng.randrange(1, len(text))
        text = text[: at + 1] + text[at:]
    return text
