"""Goals: the ratios that a bench reports, each with what it compares and what it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Goal:
    """One ratio: what is compared, and the bound that holds on two cores with the bundled model."""

    name: str
    what: str
    bound: float
    at_least: bool = False

    def is_met(self, value: float) -> bool:
        """Whether the value keeps to the bound."""
        return value >= self.bound if self.at_least else value <= self.bound

    @property
    def limit(self) -> str:
        """The bound in words."""
        return f"{'>=' if self.at_least else '<='} {self.bound:.2f}"


GOALS: tuple[Goal, ...] = (
    Goal("latency_new_image", "whole answer, new image, 1 stream: split / fused", 1.05),
    Goal("ttft_new_image", "first token, new image, 1 stream: split / fused", 1.10),
    Goal("ttft_same_image", "first token: split on a seen image / fused on a new one", 0.5),
    Goal("ttft_same_image_fused", "first token, both on a seen image: split / fused", 1.10),
    Goal("throughput_16", "tokens/s, many streams, half new images: split / fused", 1.10, True),
    Goal("p99_ttft_16", "first token of the slowest in that load: split / fused", 0.9),
    Goal("multi_image_4", "first token, 4 new images, 4 streams: split / fused", 0.9),
    Goal("page_overhead_16", "tokens/s of that load: web API / bare engines", 0.95, True),
    Goal("weights", "parameters: both engines / fused", 1.02),
    Goal("ready_s", "time to ready: both side by side / the slower alone", 1.3),
    Goal("memory", "peak resident memory of all processes: split / fused", 1.6),
)
"""On other machines and models the ratios are as meaningful, the bounds less so."""


def rows(ratios: Mapping[str, float | None]) -> list[tuple[str, str, str, str, str]]:
    """Name, figure, bound, verdict and meaning of every goal; unmeasured ones have a dash."""
    lines = []
    for goal in GOALS:
        value = ratios.get(goal.name)
        if value is None:
            lines.append((goal.name, "-", goal.limit, "not measured", goal.what))
        else:
            verdict = "met" if goal.is_met(value) else "MISSED"
            lines.append((goal.name, f"{value:.2f}", goal.limit, verdict, goal.what))
    return lines


def goals_json(ratios: Mapping[str, float | None]) -> dict[str, Any]:
    """Each ratio under its name, rounded to thousandths, None where it was not measured."""
    return {
        goal.name: None if (value := ratios.get(goal.name)) is None else round(value, 3)
        for goal in GOALS
    }
