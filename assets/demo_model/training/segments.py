"""A training batch's tokens: conversations one after another, and what in them is an answer."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache
from typing import Final

from tokenizers import Tokenizer

from .conversations import WEIGHTS
from .layout import Layout, grid
from .phrases import system_prompt
from .questions import Turn
from .tokenizer import ENDOFTEXT, IM_END, IMAGE_PAD

KINDS: Final[tuple[str, ...]] = (
    *WEIGHTS, "beyond", "each", "nth", "which", "images_count", "who", "no_picture"
)  # fmt: skip


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
