"""Engines that start in seconds: what many families have in common is imported once.

An engine process takes ten seconds of a core to import vLLM, and so does the process in which vLLM
looks at a model class for the first time; to clear the usual cache of 4 GiB takes five. Nothing of
that is what these tests are about; the tests of the bundled model start engines as the app does.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from backend import plan
from backend.catalog import ModelSpec, get_model

IMPORTED = [
    # Before vLLM's worker, see there.
    "backend.engines.threads",
    "vllm.v1.engine.core",
    "vllm.v1.executor.uniproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.v1.worker.cpu_model_runner",
    "backend.engines.vision_only",
    "backend.engines.language_only",
]


CACHE_MB = 64


@contextmanager
def quick_start() -> Iterator[None]:
    """Fork engine processes from one that has imported `IMPORTED`, look at classes here, and give
    every decoder a cache of `CACHE_MB` MiB."""
    from vllm.model_executor.models import registry
    from vllm.v1.engine import utils

    def here(look: Callable[[], Any]) -> Any:
        return look()

    def small(name: str) -> ModelSpec:
        return replace(get_model(name), cpu_kv_cache_mb=CACHE_MB)

    multiprocessing.set_forkserver_preload(IMPORTED)
    context = multiprocessing.get_context("forkserver")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "get_mp_context", lambda: context)
        patch.setattr(registry, "_run_in_subprocess", here)
        patch.setattr(plan, "get_model", small)
        yield
