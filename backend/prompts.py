"""Turns and a model's row to token ids, with every image's place marked.

What a person types never becomes a special token: the prompt is cut at the special tokens that the
template wrote, and every piece in between, the typed text among it, is encoded with special tokens
switched off. Where nobody types one the result is the tokenizer's own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backend.catalog.spec import ModelSpec
from backend.types import Turn

OPEN, CLOSE = "\ue000", "\ue001"
"""Private-use characters that stand around the number of a typed text while a template runs."""


class Tokenizer(Protocol):
    """What is used of a Hugging Face tokenizer."""

    chat_template: Any

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any: ...

    def encode(self, text: str, **options: Any) -> list[int]: ...

    def convert_tokens_to_ids(self, tokens: str) -> int: ...

    def get_added_vocab(self) -> dict[str, int]: ...


@dataclass(frozen=True, slots=True)
class ImageSlot:
    """Where the `index`-th image of the request goes."""

    index: int


PromptPart = tuple[int, ...] | ImageSlot


@dataclass(frozen=True, slots=True)
class Prompt:
    """Token ids and image slots in order; slots count up from 0 and each image has one."""

    parts: tuple[PromptPart, ...]

    @property
    def text_tokens(self) -> int:
        """Tokens that are not an image's."""
        return sum(len(part) for part in self.parts if not isinstance(part, ImageSlot))


def chat_prompt(turns: Sequence[Turn], spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """The conversation through the model's own chat template, ready for the answer."""
    typed: list[str] = []
    messages = [_message(turn, typed) for turn in turns]
    text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    return _encode(str(text), typed, spec, tokenizer)


def explicit_prompt(turn: Turn, spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """The last turn through the row's explicit template."""
    typed: list[str] = []
    placeholders = spec.placeholder * len(turn.images)
    text = spec.template.format(placeholders=placeholders, question=_mark(turn.text, typed))
    return _encode(text, typed, spec, tokenizer)


def _message(turn: Turn, typed: list[str]) -> dict[str, Any]:
    marked = _mark(turn.text, typed)
    if turn.role != "user":
        return {"role": turn.role, "content": marked}
    content: list[dict[str, str]] = [{"type": "image"} for _ in turn.images]
    return {"role": turn.role, "content": [*content, {"type": "text", "text": marked}]}


def _mark(text: str, typed: list[str]) -> str:
    typed.append(text)
    return f"{OPEN}{len(typed) - 1}{CLOSE}"


def _encode(text: str, typed: Sequence[str], spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """Cut at the template's special tokens, then put the typed texts in and encode the pieces."""
    special = tokenizer.get_added_vocab()
    names = sorted(special, key=len, reverse=True)
    pieces = re.split("(" + "|".join(map(re.escape, names)) + ")", text) if names else [text]
    parts: list[PromptPart] = []
    run: list[int] = []
    images = 0
    for piece in pieces:
        if piece == spec.image_token:
            parts += [tuple(run), ImageSlot(images)]
            run, images = [], images + 1
        elif piece in special:
            run.append(special[piece])
        elif piece:
            run += _encode_plain(_unmark(piece, typed), tokenizer)
    return Prompt((*parts, tuple(run)))


def _unmark(piece: str, typed: Sequence[str]) -> str:
    return re.sub(f"{OPEN}(\\d+){CLOSE}", lambda found: typed[int(found[1])], piece)


def _encode_plain(text: str, tokenizer: Tokenizer) -> list[int]:
    return tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
