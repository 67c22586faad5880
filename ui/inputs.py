"""Turning what a person or a program put in the fields into what the backend takes.

Ranges are the backend's to check; here it is only seen to that a value has the right kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backend.errors import InputError
from backend.placement import Fit
from backend.types import ChatRequest, ImageInput, Method, Sampling
from ui.session import Exchange, turns

if TYPE_CHECKING:
    import gradio as gr

# Above this a browser's numbers are no longer whole numbers.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True, slots=True)
class Options:
    """The settings drawer as the backend takes it."""

    system_prompt: str
    sampling: Sampling
    method: Method | None
    fit: Fit | None


def read_options(
    system_prompt: str | None,
    temperature: object,
    top_p: object,
    max_tokens: object,
    seed: object,
    method: Method | None = None,
    fit: Fit | None = None,
) -> Options:
    """What is empty takes its default; an empty seed means a new draw each time.

    Whatever a program sends may come here. Raises InputError (`bad_setting`) for what is no number,
    or a fraction where a whole number is meant.
    """
    given: dict[str, Any] = {}
    if max_tokens is not None:
        given["max_tokens"] = _whole("Max tokens", max_tokens)
    if temperature is not None:
        given["temperature"] = _number("Temperature", temperature)
    if top_p is not None:
        given["top_p"] = _number("Top-p", top_p)
    sampling = Sampling(**given, seed=None if seed is None else _whole("Seed", seed))
    return Options(system_prompt or "", sampling, method, fit)


def read_question(earlier: Sequence[Exchange], question: Exchange, options: Options) -> ChatRequest:
    """The conversation before a question and the question, as one request."""
    found = turns(earlier, question, options.system_prompt)
    return ChatRequest(found, options.sampling, options.method, options.fit)


def read_event(event: gr.EventData) -> dict[str, Any]:
    """What an event of our own buttons carries, which a program may have made up."""
    return event._data if isinstance(event._data, dict) else {}


def read_index(event: gr.EventData, count: int) -> int | None:
    """Which of so many things an event of our own buttons means; None for none of them."""
    index = read_event(event).get("index")
    return index if type(index) is int and 0 <= index < count else None


def read_urls(text: str | None) -> list[ImageInput]:
    """Addresses separated by blanks or lines, as images still to be fetched.

    A `data:` address may have blanks in it and goes on to the end of its line.
    """
    lines = [line.strip() for line in (text or "").splitlines()]
    urls = (url for line in lines for url in ([line] if _carries_data(line) else line.split()))
    return [ImageInput(url, "url") for url in urls]


def read_files(paths: list[str] | None) -> list[ImageInput]:
    """Uploaded files; what a person sees of the path is the file's name."""
    return [ImageInput(path, "upload", name=Path(path).name) for path in paths or []]


def _carries_data(line: str) -> bool:
    return line[:5].lower() == "data:"


def _whole(name: str, value: object) -> int:
    number = _number(name, value)
    if not abs(number) <= LARGEST_WHOLE or number != int(number):
        raise InputError("bad_setting", f"{name} is {number:g}; it must be a whole number.")
    return int(number)


def _number(name: str, value: object) -> float:
    try:
        if isinstance(value, bool | str | list | dict):
            raise TypeError
        return float(value)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        raise InputError("bad_setting", f"{name} must be a number.") from None
