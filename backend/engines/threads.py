"""How many threads an engine process computes with; imported before vLLM's worker exists."""

from __future__ import annotations

import os
from functools import cache
from typing import Any

# Kept under our own name: vLLM's CPU worker puts one that does nothing in its place.
from torch import get_num_threads, set_num_threads

from backend.engines.plugin import NICE, THREADS

all_threads = cache(get_num_threads)
"""As many as the process was started with, asked for the first time before it is given others."""
compute_with = set_num_threads


def use_threads(vllm_config: Any) -> None:
    """As many, and as modest ones, as the engine's arguments say, if they do.

    Called where the model will run, before there are others: threads inherit how nice they are.
    """
    all_threads()
    threads = vllm_config.additional_config.get(THREADS)
    if threads:
        compute_with(threads)
    os.nice(vllm_config.additional_config.get(NICE, 0))
