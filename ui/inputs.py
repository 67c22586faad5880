"""Turning what a person or a program put in the fields into what the backend takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backend.errors import InputError
from backend.types import ImageInput, Sampling

if TYPE_CHECKING:
    from backend.service import Bifocal

EMPTY_PROMPT = "Type a question first, for instance: What is in this picture?"


def read_prompt(text: str | None) -> str:
    """The question without surrounding blanks; raises InputError where there is none."""
    prompt = (text or "").strip()
    if not prompt:
        raise InputError("bad_request", EMPTY_PROMPT)
    return prompt


def read_urls(text: str | None) -> list[ImageInput]:
    """Addresses separated by blanks or lines, as images still to be fetched."""
    return [ImageInput(url, "url", name=url) for url in (text or "").split()]


def read_files(paths: list[str] | None) -> list[ImageInput]:
    """Uploaded files; what a person sees of the path is the file's name."""
    return [ImageInput(path, "upload", name=Path(path).name) for path in paths or []]


def read_sampling(
    temperature: float | None,
    top_p: float | None,
    max_tokens: float | None,
    seed: float | None,
) -> Sampling:
    """Sampling within its limits; an empty seed means a different answer each time.

    Raises InputError (`bad_setting`) naming the setting, the value given and what is allowed.
    """
    defaults = Sampling()
    temperature = defaults.temperature if temperature is None else temperature
    top_p = defaults.top_p if top_p is None else top_p
    max_tokens = defaults.max_tokens if max_tokens is None else max_tokens
    _within("Temperature", temperature, 0 <= temperature <= 2, "a number from 0 to 2")
    _within("Top-p", top_p, 0 < top_p <= 1, "a number above 0, up to 1")
    _within("Max tokens", max_tokens, _whole(max_tokens, 1), "a whole number, 1 or more")
    if seed is not None:
        _within("Seed", seed, _whole(seed, 0), "a whole number, 0 or more, or empty")
    return Sampling(
        max_tokens=int(max_tokens),
        temperature=float(temperature),
        top_p=float(top_p),
        seed=None if seed is None else int(seed),
    )


def _whole(value: float, least: int) -> bool:
    # Above 2^53 a browser's numbers are no longer whole numbers.
    return least <= value <= 2**53 and value == int(value)


def _within(name: str, value: float, is_right: bool, allowed: str) -> None:
    if not is_right:
        raise InputError("bad_setting", f"{name} is {value:g}; it must be {allowed}.")


def check_count(backend: Bifocal, count: int) -> None:
    """Raises InputError (`too_many_images`) where a conversation would hold too many."""
    most = backend.plan.max_images
    if count > most:
        raise InputError(
            "too_many_images",
            f"That would make {count} images; {backend.plan.label} takes at most {most} in one"
            " conversation. Remove some, or clear the conversation.",
        )
