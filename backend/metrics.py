"""Metrics: what the app counts about itself, in Prometheus' text form."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from backend.types import Result, Timings

PREFIX: Final = "bifocal"
SECONDS: Final = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)
"""Upper bounds of the histograms of seconds."""

Gauges = Callable[[], Iterable[tuple[str, str, dict[str, str], float]]]
"""Name, help, labels and value of everything that is read when it is asked for."""


class Metrics:
    """Counters of the requests, and whatever `gauges` and `others` tell when asked."""

    def __init__(self, gauges: Gauges, others: Callable[[], Iterable[Metric]]) -> None:
        """`others` are finished families, such as those of vLLM's engines."""
        self._registry = CollectorRegistry()
        self._registry.register(_Asked(gauges, others))
        self._requests = Counter(
            f"{PREFIX}_requests", "Requests by how they ended: stop, length, cancelled or an error",
            ["outcome"], registry=self._registry,
        )  # fmt: skip
        self._stages = Histogram(
            f"{PREFIX}_stage_seconds", "Seconds that answered requests spent in each stage",
            ["stage"], buckets=SECONDS, registry=self._registry,
        )  # fmt: skip
        self._tokens = Counter(
            f"{PREFIX}_tokens", "Tokens of answered requests: prompt, of them image, completion",
            ["kind"], registry=self._registry,
        )  # fmt: skip
        self._images = Counter(
            f"{PREFIX}_images", "Images of answered requests, by whether they were encoded",
            ["embedding"], registry=self._registry,
        )  # fmt: skip

    def answered(self, result: Result) -> None:
        """Count a request that came to its end."""
        for name in Timings.__slots__:
            self._stages.labels(name.removesuffix("_s")).observe(getattr(result.timings, name))
        for kind in ("prompt", "image", "completion"):
            self._tokens.labels(kind).inc(getattr(result.usage, f"{kind}_tokens"))
        for image in result.images:
            self._images.labels("reused" if image.cached else "encoded").inc()

    def ended(self, outcome: str) -> None:
        """Count how a request ended."""
        self._requests.labels(outcome).inc()

    def text(self) -> str:
        """Everything, in Prometheus' text form."""
        return generate_latest(self._registry).decode("utf-8")


class _Asked(Collector):
    """Values that are read at the moment they are asked for."""

    def __init__(self, gauges: Gauges, others: Callable[[], Iterable[Metric]]) -> None:
        self._gauges, self._others = gauges, others

    def describe(self) -> Iterable[Metric]:
        return []

    def collect(self) -> Iterable[Metric]:
        families: dict[str, GaugeMetricFamily] = {}
        for name, documentation, labels, value in self._gauges():
            name = f"{PREFIX}_{name}"
            if name not in families:
                families[name] = GaugeMetricFamily(name, documentation, labels=list(labels))
            families[name].add_metric(list(labels.values()), value)
        yield from families.values()
        yield from self._others()
