"""vLLM's own counters as Prometheus families: reading a server's, and labelling anyone's."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families


def read_counters(text: str) -> list[Metric]:
    """vLLM's among those of a server's `/metrics`. Raises ValueError for another format."""
    families: Iterable[Metric] = text_string_to_metric_families(text)
    return [family for family in families if family.name.startswith("vllm")]


def with_label(family: Metric, name: str, value: str) -> Metric:
    """The family with one more label on every sample."""
    labelled = Metric(family.name, family.documentation, family.type, family.unit)
    for sample in family.samples:
        labelled.samples.append(sample._replace(labels={**sample.labels, name: value}))
    return labelled
