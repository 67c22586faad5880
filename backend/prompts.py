"""Turns and a model's row to token ids, with every image's place marked.

What a person types never becomes a special token, nor any other added token: the prompt is cut at
the tokens that the template wrote, and every piece in between, the typed text among it, is encoded
as plain text. Where nobody types one the result is the tokenizer's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from backend.catalog.spec import ModelSpec
from backend.errors import InputError
from backend.plain_text import PlainText
from backend.types import Turn
from backend.written import Written, write_chat, write_generate


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

    @property
    def slots(self) -> int:
        """Images it has a place for."""
        return sum(isinstance(part, ImageSlot) for part in self.parts)


def chat_prompt(turns: Sequence[Turn], spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """The conversation through the model's own chat template, ready for the answer.

    Raises InputError (`bad_request`) where the template has no place for an image.
    """
    images = sum(len(turn.images) for turn in turns)
    for written in write_chat(turns, spec, tokenizer):
        prompt = _encode(written, spec, tokenizer)
        if prompt.slots == images:
            return prompt
    raise InputError(
        "bad_request",
        f"The chat template of {spec.label} has no place for images: use --method generate.",
    )


def generate_prompt(turn: Turn, spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """The last turn as the row's prompt has it. Raises InputError (`bad_request`) as above.

    As vLLM does with a prompt given as text, the token that the tokenizer begins with is put first.
    """
    prompt = _encode(write_generate(turn, spec, tokenizer), spec, tokenizer)
    if prompt.slots != len(turn.images):
        raise InputError(
            "bad_request", f"The prompt of {spec.label} has no place for images: use --method chat."
        )
    begin = _begin(tokenizer)
    first = prompt.parts[0]
    if isinstance(first, ImageSlot) or first[:1] == begin:
        return prompt
    return Prompt((begin + first, *prompt.parts[1:]))


def _begin(tokenizer: Any) -> tuple[int, ...]:
    """The token that the tokenizer begins every text with, if it does."""
    begin: int | None = getattr(tokenizer, "bos_token_id", None)
    if begin is None or tokenizer.encode("", add_special_tokens=True)[:1] != [begin]:
        return ()
    return (begin,)


def image_token_ids(spec: ModelSpec, tokenizer: Tokenizer, number: int = 1) -> list[int]:
    """What vLLM's processor takes for the place of the `number`-th image, counted from 1."""
    text = spec.image_token.replace("{i}", str(number))
    known = tokenizer.get_added_vocab()
    return [known[text]] if text in known else PlainText(tokenizer).encode(text)


def tokens_with_placeholders(prompt: Prompt, spec: ModelSpec, tokenizer: Tokenizer) -> list[int]:
    """The prompt's tokens, with what vLLM's processor takes for each image's place."""
    tokens: list[int] = []
    for part in prompt.parts:
        if isinstance(part, ImageSlot):
            tokens += image_token_ids(spec, tokenizer, part.index + 1)
        else:
            tokens += part
    return tokens


def _encode(written: Written, spec: ModelSpec, tokenizer: Tokenizer) -> Prompt:
    """Cut at the template's own tokens, then put the typed texts in and encode the pieces."""
    added = tokenizer.get_added_vocab()
    image = _image_pattern(spec)
    plain = PlainText(tokenizer)
    is_token = any(image.fullmatch(name) for name in added)
    parts: list[PromptPart] = []
    run: list[int] = []
    images, is_first = 0, True
    for piece in _pieces(written.text, image, added, _blank_sides(tokenizer)):
        if image.fullmatch(piece):
            parts += [tuple(run), ImageSlot(images)]
            run, images = [], images + 1
        elif piece in added:
            run.append(added[piece])
        else:
            text = written.fill(piece)
            run += (
                plain.encode(text, is_first)
                if is_token
                else plain.encode_without(text, image, is_first)
            )
        is_first = False
    return Prompt((*parts, tuple(run)))


def _pieces(
    text: str,
    image: re.Pattern[str],
    added: Mapping[str, int],
    blank: Mapping[str, tuple[bool, bool]],
) -> Iterator[str]:
    """Image tokens, other added tokens, and the texts between them.

    `blank` says which tokens take in the white space before and behind them.
    """
    names = [re.escape(name) for name in sorted(added, key=len, reverse=True)]
    pieces = re.split("(" + "|".join([image.pattern, *names]) + ")", text)
    for place, piece in enumerate(pieces):
        if place % 2 == 0:
            if place and blank.get(pieces[place - 1], (False, False))[1]:
                piece = piece.lstrip()
            if place + 1 < len(pieces) and blank.get(pieces[place + 1], (False, False))[0]:
                piece = piece.rstrip()
        if piece:
            yield piece


def _image_pattern(spec: ModelSpec) -> re.Pattern[str]:
    return re.compile(r"\d+".join(map(re.escape, spec.image_token.split("{i}"))))


def _blank_sides(tokenizer: Any) -> dict[str, tuple[bool, bool]]:
    tokens = getattr(tokenizer, "added_tokens_decoder", {}).values()
    return {str(token): (token.lstrip, token.rstrip) for token in tokens}
