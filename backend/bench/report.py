"""Report: what a bench found, as ratios with their goals, as tables, and as JSON. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.bench.figures import Answer, Spread
from backend.bench.goals import goals_json, rows
from backend.bench.rounds import Measured

Ratios = Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that was measured; fields that were not are empty."""

    measured: Mapping[str, Measured]
    ready_s: Mapping[str, float] = field(default_factory=dict)
    parameters: Mapping[str, int] = field(default_factory=dict)
    peak_bytes: Mapping[str, int] = field(default_factory=dict)
    """Of all processes together, what they share counted once."""
    peaks: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """Of each process: this one, then the side's engines."""
    device_bytes: Mapping[str, int] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    machine: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def ratios(self) -> dict[str, float | None]:
        """Each goal's ratio of medians; None where a side was left out."""
        split, fused = "split", "fused"
        return {
            "latency_new_image": self._ratio(split, fused, _total_new),
            "ttft_new_image": self._ratio(split, fused, _ttft_new),
            "ttft_same_image": _quotient(self._of(split, _ttft_same), self._of(fused, _ttft_new)),
            "ttft_same_image_fused": self._ratio(split, fused, _ttft_same),
            "throughput_16": self._ratio(split, fused, _throughput),
            "p99_ttft_16": self._ratio(split, fused, _p99),
            "multi_image_4": self._ratio(split, fused, _ttft_many),
            "page_overhead_16": self._ratio("page", "bare", _throughput),
            "weights": self._weights(),
            "ready_s": self._ready(),
            "memory": _quotient(self.peak_bytes.get(split), self.peak_bytes.get(fused)),
        }

    def as_json(self) -> dict[str, Any]:
        """Ratios by name at the top, then what they are made of."""
        ratios = self.ratios()
        return {
            **goals_json(ratios),
            "missed": [name for name, *_, verdict, _ in rows(ratios) if verdict == "MISSED"],
            "sides": {
                name: {title: spread.as_json() for title, spread in _spreads(side)}
                for name, side in self.measured.items()
            },
            "start_s": {name: round(value, 2) for name, value in self.ready_s.items()},
            "parameters": dict(self.parameters),
            "peak_bytes": dict(self.peak_bytes),
            "peaks": {side: list(each) for side, each in self.peaks.items()},
            "device_bytes": dict(self.device_bytes),
            "settings": dict(self.settings),
            "machine": dict(self.machine),
            "seconds": round(self.seconds, 1),
        }

    def text(self) -> str:
        """The same for people."""
        columns = [dict(_measures(side)) for side in self.measured.values()]
        table = [["median (least to most)", *self.measured]]
        table += [[title, *(_spread_text(c[title]) for c in columns)] for title, _ in MEASURES]
        machine = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        parts = [
            _columns([list(row) for row in rows(self.ratios())]),
            _columns(table),
            self._amounts(),
            f"machine: {machine}\nbench: {settings}; {self.seconds:.0f} s in all\n",
        ]
        return "\n".join(part for part in parts if part)

    def _amounts(self) -> str:
        lines = [
            *(f"ready {name}: {seconds:.1f} s" for name, seconds in self.ready_s.items()),
            *(f"parameters {name}: {count:,}" for name, count in self.parameters.items()),
            *(
                f"memory {name}: {size / 2**20:,.0f} MiB; {self._processes(name)}"
                for name, size in self.peak_bytes.items()
            ),
            *(
                f"GPU memory {name}: {size / 2**20:,.0f} MiB"
                for name, size in self.device_bytes.items()
                if size
            ),
        ]
        return "".join(f"{line}\n" for line in lines)

    def _processes(self, side: str) -> str:
        app, *engines = (f"{peak / 2**20:,.0f}" for peak in self.peaks.get(side, (0,)))
        return f"the app {app}, its engines {' and '.join(engines) or '-'}"

    def _of(self, side: str, measure: Callable[[Measured], list[float]]) -> float | None:
        measured = self.measured.get(side)
        values = measure(measured) if measured else []
        return statistics.median(values) if values else None

    def _ratio(
        self, side: str, other: str, measure: Callable[[Measured], list[float]]
    ) -> float | None:
        return _quotient(self._of(side, measure), self._of(other, measure))

    def _weights(self) -> float | None:
        held = self.parameters
        if not {"vision", "language", "fused"} <= held.keys():
            return None
        return _quotient(held["vision"] + held["language"], held["fused"])

    def _ready(self) -> float | None:
        alone = [self.ready_s[role] for role in ("vision", "language") if role in self.ready_s]
        return _quotient(self.ready_s.get("both"), max(alone)) if len(alone) == 2 else None


def _quotient(value: float | None, other: float | None) -> float | None:
    return value / other if value is not None and other else None


def _total_new(side: Measured) -> list[float]:
    return [answer.total_s for answer in side.new]


def _ttft_new(side: Measured) -> list[float]:
    return [answer.ttft_s for answer in side.new]


def _ttft_same(side: Measured) -> list[float]:
    return [answer.ttft_s for answer in side.same]


def _decoded(side: Measured) -> list[float]:
    return [_decode_rate(answer) for answer in (*side.new, *side.same) if answer.tokens > 1]


def _decode_rate(answer: Answer) -> float:
    return (answer.tokens - 1) / max(answer.total_s - answer.ttft_s, 1e-9)


def _throughput(side: Measured) -> list[float]:
    return [load.tokens_per_s for load in side.load]


def _p99(side: Measured) -> list[float]:
    return [load.p99_ttft_s for load in side.load]


def _ttft_load(side: Measured) -> list[float]:
    return [load.ttft_s for load in side.load]


def _ttft_many(side: Measured) -> list[float]:
    return [many.ttft_s for many in side.many]


MEASURES: tuple[tuple[str, Callable[[Measured], list[float]]], ...] = (
    ("new image, 1 stream: total, s", _total_new),
    ("new image, 1 stream: first token, s", _ttft_new),
    ("seen image, 1 stream: first token, s", _ttft_same),
    ("1 stream: tokens/s decoded", _decoded),
    ("load: tokens/s", _throughput),
    ("load: first token, s, median", _ttft_load),
    ("load: first token, s, P99", _p99),
    ("4 new images: first token, s", _ttft_many),
)


def _measures(side: Measured) -> list[tuple[str, Spread | None]]:
    measured = [(title, measure(side)) for title, measure in MEASURES]
    return [(title, Spread.of(values) if values else None) for title, values in measured]


def _spreads(side: Measured) -> list[tuple[str, Spread]]:
    return [(title, spread) for title, spread in _measures(side) if spread]


def _spread_text(spread: Spread | None) -> str:
    if spread is None:
        return "-"
    digits = 1 if spread.median >= 10 else 3
    return f"{spread.median:.{digits}f} ({spread.least:.{digits}f} to {spread.most:.{digits}f})"


def _columns(table: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest word."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = (
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in table
    )
    return "\n".join(lines) + "\n"
