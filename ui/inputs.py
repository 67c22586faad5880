"""Turning what a person or a program put in the fields into what the backend takes.

Ranges are the backend's to check; here it is only seen to that a value has the right kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from backend.errors import InputError
from backend.types import ChatRequest, Fit, ImageInput, Sampling
from ui.session import Exchange, Session

# Above this a browser's numbers are no longer whole numbers.
LARGEST_WHOLE = 2**53


@dataclass(frozen=True, slots=True)
class Options:
    """The settings drawer as the backend takes it."""

    system_prompt: str
    sampling: Sampling
    fit: Fit | None


def read_options(
    system_prompt: str | None,
    temperature: float | None,
    top_p: float | None,
    max_tokens: float | None,
    seed: float | None,
    fit: Fit | None = None,
) -> Options:
    """What is empty takes its default; an empty seed means a new draw each time.

    Raises InputError (`bad_setting`) for a fraction where a whole number is meant.
    """
    defaults = Sampling()
    sampling = Sampling(
        max_tokens=defaults.max_tokens if max_tokens is None else _whole("Max tokens", max_tokens),
        temperature=defaults.temperature if temperature is None else float(temperature),
        top_p=defaults.top_p if top_p is None else float(top_p),
        seed=None if seed is None else _whole("Seed", seed),
    )
    return Options(system_prompt or "", sampling, fit)


def read_question(session: Session, exchange: Exchange, options: Options) -> ChatRequest:
    """The conversation so far and a new question, as one request."""
    turns = session.turns(exchange, options.system_prompt)
    return ChatRequest(turns, options.sampling, fit=options.fit)


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


def _whole(name: str, value: float) -> int:
    if not abs(value) <= LARGEST_WHOLE or value != int(value):
        raise InputError("bad_setting", f"{name} is {value:g}; it must be a whole number.")
    return int(value)
