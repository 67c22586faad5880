"""A vLLM engine's processes, and ending them without a trace on the terminal."""

import psutil
from vllm.utils.async_utils import cancel_task_threadsafe
from vllm.v1.engine.async_llm import AsyncLLM

GRACE_S = 1.0
"""Seconds an engine process has to end by itself. With nothing left to save, longer is only a wait:
vLLM's CPU workers do not follow SIGTERM and are killed in the end."""


def end_engine(engine: AsyncLLM) -> None:
    """Stop the engine's processes. Blocking, from any thread.

    The task that reads the engine's answers is stopped first; it would report the engine's end as
    a failure.
    """
    if engine.output_handler is not None:
        cancel_task_threadsafe(engine.output_handler)
    try:
        engine.shutdown(timeout=GRACE_S)
    except psutil.NoSuchProcess:
        # It ended by itself just as vLLM was about to kill it, which vLLM stumbles over before it
        # has closed its sockets.
        engine.engine_core.resources()


def engine_pids(engine: AsyncLLM) -> list[int]:
    """The processes that the engine has started here; none where they are elsewhere."""
    manager = engine.engine_core.resources.engine_manager
    processes = getattr(manager, "processes", ())
    return [process.pid for process in processes if process.pid is not None]
