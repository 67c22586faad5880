"""Ending an engine whose process goes at the moment it is to be killed."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import psutil

from backend.engines.ending import end_engine


def test_a_process_that_has_just_ended_is_no_fault() -> None:
    """vLLM asks for the children of a process that is no more, and leaves its sockets open."""
    closed: list[bool] = []

    def shutdown(timeout: float) -> None:
        raise psutil.NoSuchProcess(1062)

    core = SimpleNamespace(resources=lambda: closed.append(True))
    engine: Any = SimpleNamespace(output_handler=None, shutdown=shutdown, engine_core=core)
    end_engine(engine)
    assert closed == [True]
