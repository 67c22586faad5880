"""PromptStyle: how a model's prompt is written, as data.

Three shapes cover every family. Whatever is written here is the template's; what a person typed is
put in by the caller, as `question`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

TemplateKind = Literal["explicit", "tokenizer", "processor", "override"]
Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Placeholders:
    """The images of one message, written out in its text."""

    one: str
    """One image; `{i}` is its number, counted from 1."""

    between: str = ""
    """What stands between two of them."""

    def write(self, count: int) -> str:
        """All of them, in order."""
        return self.between.join(numbered(self.one, i) for i in range(1, count + 1))


@dataclass(frozen=True, slots=True)
class ExplicitPrompt:
    """The whole prompt is written out here; the model's own chat template is not needed."""

    template: str
    """The prompt, with `{placeholders}` and `{question}`."""

    placeholders: Placeholders
    """How its images are written."""

    @property
    def kind(self) -> TemplateKind:
        return "explicit"

    def write(self, question: str, images: int) -> str:
        """The prompt of one question about so many images."""
        return self.template.format(placeholders=self.placeholders.write(images), question=question)


@dataclass(frozen=True, slots=True)
class TextMessage:
    """One message of plain text, images written into it, through a chat template."""

    placeholders: Placeholders
    """How its images are written."""

    template: str = "{placeholders}\n{question}"
    """The message, with `{placeholders}` and `{question}`."""

    override: str | None = None
    """A chat template (Jinja) to use instead of the tokenizer's; None uses the tokenizer's."""

    @property
    def kind(self) -> TemplateKind:
        return "override" if self.override else "tokenizer"

    def messages(self, question: str, images: Sequence[str]) -> list[Message]:
        """The conversation that goes through the chat template."""
        written = self.placeholders.write(len(images))
        text = self.template.format(placeholders=written, question=question)
        return [{"role": "user", "content": text}]


@dataclass(frozen=True, slots=True)
class PartsMessage:
    """One message of parts, images before the text, through the model's own chat template."""

    source: Literal["processor", "tokenizer"] = "processor"
    """Whose chat template it is."""

    system: str = ""
    """A system message that comes first."""

    image_fields: Mapping[str, str] = field(default_factory=dict)
    """Further fields of every image part."""

    override: None = None
    """There is none in this shape."""

    @property
    def kind(self) -> TemplateKind:
        return self.source

    def messages(self, question: str, images: Sequence[str]) -> list[Message]:
        """The conversation that goes through the chat template; `images` are addresses or names."""
        before: list[Message] = [{"role": "system", "content": self.system}] if self.system else []
        parts = [{"type": "image", "image": image, **self.image_fields} for image in images]
        content = [*parts, {"type": "text", "text": question}]
        return [*before, {"role": "user", "content": content}]


PromptStyle = ExplicitPrompt | TextMessage | PartsMessage


def numbered(text: str, number: int) -> str:
    """A placeholder with its image's number in place of `{i}`."""
    return text.replace("{i}", str(number))
