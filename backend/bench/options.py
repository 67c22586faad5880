"""Options of a bench, checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from backend.errors import SettingError
from backend.plan import Plan
from backend.settings import nearest

SIDES: Final = ("split", "fused", "bare", "page", "replicas")
MOST: Final = 1000
"""Of everything that is counted."""
LEAST_SIDE, MOST_SIDE = 56, 4096
"""Pixels of a side of a picture, where the model has no sizes of its own."""


@dataclass(frozen=True, slots=True)
class Options:
    """What is measured: `sides` in order; `repeats` of every measurement; `streams` that each put
    two questions `rounds` times, of `tokens` tokens, in the load; the pictures' size in pixels."""

    sides: tuple[str, ...]
    repeats: int
    streams: int
    rounds: int
    tokens: int
    height: int
    width: int


def check_plan(plan: Plan) -> None:
    """Raises SettingError for what cannot be compared at all."""
    if plan.topology != "split":
        raise SettingError(
            "bench starts two engines on this machine and compares them with one, and with these "
            f"settings {plan.label} runs otherwise: choose a model and settings with --topology "
            "split."
        )
    if plan.target == "qaic":
        raise SettingError("bench does not run on QAIC cards yet: use --target cpu or cuda.")


def check_options(options: Options, places: int) -> None:
    """Raises SettingError. `places` is how many questions one person may have under way."""
    for side in options.sides:
        if side not in SIDES:
            raise SettingError(f"--sides: there is no {side!r}. {nearest(side, SIDES)}")
    if not {"split", "page"} & set(options.sides):
        raise SettingError("--sides: split or page must be among them, there is no bench without.")
    if len(set(options.sides)) < len(options.sides):
        raise SettingError(f"--sides: name each once, of {', '.join(SIDES)}.")
    for name in ("repeats", "streams", "rounds", "tokens"):
        if not 1 <= getattr(options, name) <= MOST:
            raise SettingError(f"--{name} must be between 1 and {MOST}.")
    if options.streams > places:
        raise SettingError(
            f"--streams: one person may have {places} questions under way, a quarter of "
            f"--max-queue: give a --max-queue of {4 * options.streams} or more."
        )


def picture_size(plan: Plan, given: str | None) -> tuple[int, int]:
    """Height and width in pixels: those given as `HEIGHTxWIDTH`, else the middle bucket's.

    Raises SettingError for a size that the engines would not take as it is.
    """
    sizes = [(bucket.height, bucket.width) for bucket in plan.buckets]
    shown = ", ".join(f"{height}x{width}" for height, width in sizes)
    if given is None:
        if not sizes:
            raise SettingError(f"{plan.label} has no sizes of its own: give one with --picture.")
        return sizes[len(sizes) // 2]
    height, cross, width = given.partition("x")
    if not (cross and height.isdecimal() and width.isdecimal()):
        raise SettingError(f"--picture is HEIGHTxWIDTH in pixels, such as {shown or '504x896'}.")
    size = int(height), int(width)
    if sizes and size not in sizes:
        raise SettingError(f"--picture must be a bucket, so that nobody resizes it: {shown}.")
    if not all(LEAST_SIDE <= side <= MOST_SIDE for side in size):
        raise SettingError(
            f"--picture: each side must have between {LEAST_SIDE} and {MOST_SIDE} pixels."
        )
    return size
