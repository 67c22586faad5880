"""How many threads an engine process computes with; imported before vLLM's worker exists."""

from __future__ import annotations

import os
from typing import Any

# Kept under our own name: vLLM's CPU worker puts one that does nothing in its place.
from torch import set_num_threads

from backend.engines.plugin import NICE, THREADS


def use_threads(vllm_config: Any) -> None:
    """As many, and as modest ones, as the engine's arguments say, if they do.

    Called where the model will run, before there are others: threads inherit how nice they are.
    """
    threads = vllm_config.additional_config.get(THREADS)
    if threads:
        set_num_threads(threads)
    os.nice(vllm_config.additional_config.get(NICE, 0))
