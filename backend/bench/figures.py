"""Figures: what is made of many measured values. Pure."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of measured values, the least and the most of them, and how many there were."""

    median: float
    least: float
    most: float
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Raises ValueError for no values."""
        if not values:
            raise ValueError("no values")
        return cls(statistics.median(values), min(values), max(values), len(values))

    def as_json(self) -> dict[str, float]:
        """Values rounded to 0.1 ms (or as fine in other units)."""
        return {
            "median": round(self.median, 4),
            "least": round(self.least, 4),
            "most": round(self.most, 4),
            "count": self.count,
        }


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least `share` (0 to 1) of the values do not exceed.

    Raises ValueError for no values.
    """
    if not values:
        raise ValueError("no values")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it was timed from outside: seconds from the question to its first token, and
    to its last; tokens; and what was said."""

    ttft_s: float
    total_s: float
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Burst:
    """The answers to many questions that several askers put at the same time, and the seconds from
    the first question to the last answer."""

    answers: tuple[Answer, ...]
    seconds: float

    @property
    def tokens_per_s(self) -> float:
        """Tokens of all answers over the whole time."""
        return sum(answer.tokens for answer in self.answers) / self.seconds

    @property
    def ttft_s(self) -> float:
        """The median."""
        return statistics.median(answer.ttft_s for answer in self.answers)

    @property
    def p99_ttft_s(self) -> float:
        """Of fewer than a hundred answers this is the slowest one."""
        return percentile([answer.ttft_s for answer in self.answers], 0.99)
