"""Counting what an engine really holds; vLLM mixes this class into its workers."""

from __future__ import annotations

from typing import Any

WORKER_EXTENSION = "backend.engines.census.Census"


class Census:
    """Asked with `collective_rpc("census")`; `model_runner` is the worker's own."""

    model_runner: Any

    def census(self) -> dict[str, int]:
        """Parameters by top-level part of the model, each shared tensor counted once."""
        counts: dict[str, int] = {}
        for name, parameter in self.model_runner.get_model().named_parameters():
            part = name.partition(".")[0]
            counts[part] = counts.get(part, 0) + parameter.numel()
        return counts
