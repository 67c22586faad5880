"""A conversation as a file: Markdown for people, JSON to be imported again."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from ui.record import as_record
from ui.session import Exchange
from ui.transcript import ENDS

TYPES = {"markdown": ("md", "text/markdown"), "json": ("json", "application/json")}


def as_file(kind: str, title: str, model: str, exchanges: Sequence[Exchange]) -> dict[str, str]:
    """Name, type and text of the file of this `kind`, a key of `TYPES`."""
    extension, media_type = TYPES[kind]
    text = (
        as_markdown(title, model, exchanges)
        if kind == "markdown"
        # Without its id: whoever imports it has a conversation of their own.
        else json.dumps(as_record("", title, model, exchanges), ensure_ascii=False, indent=1)
    )
    return {"name": f"{file_stem(title)}.{extension}", "type": media_type, "text": text}


def file_stem(title: str) -> str:
    """A title as a file's name: letters, digits and dashes."""
    words = "-".join(re.findall(r"\w+", title.lower()))[:48].strip("-_")
    return f"bifocal-{words or 'conversation'}"


def as_markdown(title: str, model: str, exchanges: Sequence[Exchange]) -> str:
    """Questions and answers as they were written; names of the images, and height by width."""
    lines = [f"# {title}", f"*Asked of {model} in Bifocal*"]
    image = 1
    for number, exchange in enumerate(exchanges, 1):
        lines.append(f"## Question {number}")
        names = [_named(item, image + index) for index, item in enumerate(exchange.attachments)]
        image += len(names)
        lines += ["\n".join(names)] if names else []
        lines += [exchange.prompt, f"## Answer {number}", _answer(exchange)]
    return "\n\n".join(lines) + "\n"


def _named(item: Any, number: int) -> str:
    placed = item.placed
    name = re.sub(r"([\\`*_\[\]<>&])", r"\\\1", placed.source)
    return f"- Image {number}: {name}, {placed.height} x {placed.width} pixels (height x width)"


def _answer(exchange: Exchange) -> str:
    result = exchange.result
    if result is None:
        return "*(no answer)*"
    end = ENDS.get(result.finish_reason or "", "").format(result.usage.completion_tokens)
    short = end.partition(". ")[0].rstrip(".")
    return f"{result.text}\n\n*({short})*" if short else result.text
