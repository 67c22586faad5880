"""What the settings drawer holds, and reading it back from a browser that may send anything."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from backend.placement import Fit
from backend.types import Method, Sampling

if TYPE_CHECKING:
    from backend.plan import Plan

LONGEST_PROMPT = 20_000
LARGEST_SEED = 2**53
"""Above this a browser's numbers are no longer whole numbers."""


@dataclass(frozen=True, slots=True)
class Preferences:
    """The drawer's values, in its order; an empty `seed` draws anew each time."""

    system_prompt: str
    temperature: float
    top_p: float
    max_tokens: int
    seed: int | None
    method: Method
    fit: Fit

    @classmethod
    def defaults(cls, plan: Plan) -> Preferences:
        """Of this model and these settings."""
        sampling = Sampling()
        return cls(
            system_prompt="",
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=min(sampling.max_tokens, plan.ctx_len),
            seed=sampling.seed,
            method=plan.method,
            fit=plan.fit,
        )

    def values(self) -> list[Any]:
        """As the drawer's fields take them."""
        return [getattr(self, field.name) for field in fields(self)]


def read(stored: Any, plan: Plan) -> Preferences:
    """Every value that is right; the default for each that is not, or not there.

    `stored` is a list in the drawer's order. What another version of the page has stored, another
    model allowed, or somebody has tampered with is no reason for a page that does not work.
    """
    defaults = Preferences.defaults(plan)
    if not isinstance(stored, list) or len(stored) != len(fields(Preferences)):
        return defaults
    right = [
        isinstance(stored[0], str) and len(stored[0]) <= LONGEST_PROMPT,
        _within(stored[1], 0, 2),
        _within(stored[2], 0, 1) and stored[2] > 0,
        _is_whole(stored[3], 1, plan.ctx_len),
        stored[4] is None or _is_whole(stored[4], 0, LARGEST_SEED),
        stored[5] in ("chat", "generate"),
        stored[6] in ("stretch", "pad"),
    ]
    pairs = zip(stored, right, defaults.values(), strict=True)
    return Preferences(*(given if is_right else default for given, is_right, default in pairs))


def _within(value: Any, least: float, most: float) -> bool:
    """A number; True and False, which Python counts as numbers, are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _is_whole(value: Any, least: int, most: int) -> bool:
    return _within(value, least, most) and value == int(value)
