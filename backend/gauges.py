"""Gauges: what is true of the queues, the cache and the engines at this moment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from backend.admission import Admission
from backend.cache import ByteCache
from backend.supervisor import Supervisor
from backend.types import Embedding

Gauge = tuple[str, str, dict[str, str], float]
"""Name, help, labels, value."""


def gauges(
    decoding: Admission, encoding: Admission, cache: ByteCache[Embedding], supervisor: Supervisor
) -> Iterator[Gauge]:
    """For `Metrics`. All requests are in `decoding`, those with new images in `encoding` too."""
    waiting, running = decoding.waiting + encoding.waiting, decoding.running + encoding.running
    yield "requests_inside", "Requests that have a place", {}, decoding.inside
    yield "requests_waiting", "Requests that wait for a turn", {}, waiting
    yield "requests_running", "Requests in the engines", {}, running
    yield "tasks", "Coroutines under way in the whole app", {}, _tasks()
    yield "cache_bytes", "Bytes of embeddings held", {}, cache.nbytes
    yield "cache_embeddings", "Embeddings held", {}, len(cache)
    for engine in supervisor.health().engines:
        up = engine.state in ("ready", "busy")
        yield "engine_up", "Whether the engine answers", {"role": engine.role}, up
    for role, unfinished in supervisor.unfinished().items():
        yield "engine_unfinished", "Requests in the engine", {"role": role}, unfinished
    for role, restarts in supervisor.restarts().items():
        yield "engine_restarts", "Starts after the first", {"role": role}, restarts


def _tasks() -> int:
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:  # Asked from outside the event loop.
        return 0
