"""How many threads an engine process computes with; imported before vLLM's worker exists."""

from __future__ import annotations

from typing import Any

# Kept under our own name: vLLM's CPU worker puts one that does nothing in its place.
from torch import set_num_threads

from backend.engines.plugin import THREADS


def use_threads(vllm_config: Any) -> None:
    """As many as the engine's arguments say, if they do. Called where the model will run."""
    threads = vllm_config.additional_config.get(THREADS)
    if threads:
        set_num_threads(threads)
