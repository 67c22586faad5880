"""vLLM's own counters, kept apart for each engine of this process."""

from __future__ import annotations

from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from vllm.v1.metrics.loggers import PrometheusStatLogger


def counting_in(registry: CollectorRegistry) -> type[Any]:
    """vLLM's Prometheus logger with a registry of its own, as AsyncLLM takes it.

    The original counts in the process's own registry, from which each new engine removes the
    counters of the one before.
    """

    class OwnRegistry(PrometheusStatLogger):  # type: ignore[misc]
        _gauge_cls = partial(Gauge, registry=registry)
        _counter_cls = partial(Counter, registry=registry)
        _histogram_cls = partial(Histogram, registry=registry)

    return OwnRegistry
