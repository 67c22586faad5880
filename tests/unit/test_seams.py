"""Where an image's tokens meet others: line breaks that are one token in Gemma 3."""

from __future__ import annotations

from typing import Any

import pytest

from backend.catalog import get_model
from backend.engines.seams import BREAKS, join, seams_of

BREAK, PAIR, THREE, FOUR = 10, 20, 30, 40
TEXT = 7


class Vocabulary:
    """A tokenizer of runs of line breaks."""

    def get_vocab(self) -> dict[str, int]:
        return dict(zip(BREAKS, (BREAK, PAIR, THREE, FOUR), strict=True))


@pytest.fixture
def gemma() -> Any:
    return seams_of(get_model("gemma3"), Vocabulary())


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [(BREAK, PAIR, THREE), (PAIR, BREAK, THREE), (PAIR, PAIR, FOUR)],
)
def test_line_breaks_join(gemma: Any, left: int, right: int, joined: int) -> None:
    tokens = [TEXT, left]
    assert join(tokens, [right, TEXT], gemma) == 1
    assert tokens == [TEXT, joined, TEXT]


@pytest.mark.parametrize("right", [TEXT, THREE, FOUR])
def test_others_stay_apart(gemma: Any, right: int) -> None:
    tokens = [PAIR]
    assert join(tokens, (right,), gemma) == 0
    assert tokens == [PAIR, right]


def test_nothing_to_join(gemma: Any) -> None:
    tokens: list[int] = []
    assert join(tokens, (PAIR,), gemma) == join(tokens, (), gemma) == 0
    assert tokens == [PAIR]


def test_other_families_have_no_seams() -> None:
    assert seams_of(get_model("llava"), Vocabulary()) == {}
