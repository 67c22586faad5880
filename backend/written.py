"""Written: a prompt as text, in which stand-ins keep the places of what people typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from backend.catalog.prompt_style import ExplicitPrompt, Message, numbered
from backend.catalog.spec import ModelSpec
from backend.chat_template import apply_template, render_template, takes_parts
from backend.types import Turn

OPEN, CLOSE = "\ue000", "\ue001"
"""Private-use characters that stand around the number of a typed text while a template runs."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a template made of stand-ins, and what they stand for."""

    text: str
    typed: tuple[str, ...]

    def fill(self, piece: str) -> str:
        """A piece of the text with what was typed in it."""
        return re.sub(f"{OPEN}(\\d+){CLOSE}", lambda found: self.typed[int(found[1])], piece)

    @property
    def full(self) -> str:
        """The whole prompt as people read it."""
        return self.fill(self.text)


def write_generate(turn: Turn, spec: ModelSpec, tokenizer: Any = None) -> Written:
    """One question as the row's prompt has it.

    The tokenizer is only asked where the row uses the model's own chat template.
    """
    typed = (turn.text,)
    style = spec.prompt
    if isinstance(style, ExplicitPrompt):
        return Written(style.write(stand_in(0), len(turn.images)), typed)
    messages = style.messages(stand_in(0), [image.location for image in turn.images])
    if style.override:
        return Written(render_template(style.override, messages), typed)
    return Written(apply_template(tokenizer, messages), typed)


def write_chat(turns: Sequence[Turn], spec: ModelSpec, tokenizer: Any) -> Iterator[Written]:
    """The conversation through the model's chat template, in the ways in which it may take it.

    As vLLM's `LLM.chat`: messages as lists of parts where the template takes them, else as plain
    text with the images written before it, one a line.
    """
    typed = tuple(turn.text for turn in turns)
    override = None if isinstance(spec.prompt, ExplicitPrompt) else spec.prompt.override
    if override:
        yield Written(render_template(override, _text_messages(turns, spec)), typed)
        return
    if takes_parts(tokenizer):
        yield Written(apply_template(tokenizer, _part_messages(turns)), typed)
    yield Written(apply_template(tokenizer, _text_messages(turns, spec)), typed)


def stand_in(number: int) -> str:
    """What stands for the `number`-th typed text."""
    return f"{OPEN}{number}{CLOSE}"


def _part_messages(turns: Sequence[Turn]) -> list[Message]:
    return [
        {
            "role": turn.role,
            "content": [
                *({"type": "image"} for _ in turn.images),
                {"type": "text", "text": stand_in(number)},
            ],
        }
        for number, turn in enumerate(turns)
    ]


def _text_messages(turns: Sequence[Turn], spec: ModelSpec) -> list[Message]:
    messages: list[Message] = []
    images = 0
    for number, turn in enumerate(turns):
        numbers = range(images + 1, images + len(turn.images) + 1)
        lines = [numbered(spec.chat_image or spec.image_token, i) for i in numbers]
        images += len(turn.images)
        messages.append({"role": turn.role, "content": "\n".join([*lines, stand_in(number)])})
    return messages
