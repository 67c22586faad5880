"""Gradio's queue is calm: it looks seldom while nobody asks, and makes no tables of past events."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from typing import Any

import gradio as gr
import pytest

from ui.app import create_page
from ui.calm import LOOK_S, PROGRESS_S, calm
from ui.listeners import Listeners

from .fakes import App


async def wakeups(queue: Any, monkeypatch: pytest.MonkeyPatch, seconds: float) -> int:
    """How often its two loops look within so many seconds of their own clock."""
    looks: list[float] = []
    real = asyncio.sleep

    async def sleep(delay: float) -> None:
        looks.append(delay)
        await real(0)
        if sum(looks) > 2 * seconds:
            queue.stopped = True

    monkeypatch.setattr("gradio.queueing.asyncio.sleep", sleep)
    queue.stopped = False
    await asyncio.gather(queue.start_processing(), queue.start_progress_updates())
    return len(looks)


async def test_an_idle_app_looks_a_tenth_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    with gr.Blocks() as blocks:
        blocks.queue()
    before = await wakeups(blocks._queue, monkeypatch, 10)
    calm(blocks, 4)
    with monkeypatch.context() as patch:
        after = await wakeups(blocks._queue, patch, 10)
    assert after < before / 10


async def test_events_leave_no_table() -> None:
    with gr.Blocks() as blocks:
        blocks.queue()
    calm(blocks, 4)
    queue = blocks._queue
    queue.events_recorded = 5000
    record = {"function": "ask", "status": "success", "process_time": 1.0, "time": 0.0}
    assert queue.compute_analytics_summary([record]) == {"functions": {}}


def test_the_page_is_calm(tokenizer: Any) -> None:
    page = create_page(App(tokenizer).backend, (), Listeners())
    assert page._queue.sleep_when_free == LOOK_S
    assert page._queue.progress_update_sleep_when_free == PROGRESS_S


async def test_what_is_not_there_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python would ask every folder again, twice an update."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib")
    if find_spec("matplotlib"):
        pytest.skip("matplotlib is installed")
    with gr.Blocks() as blocks:
        blocks.queue()
    calm(blocks, 4)
    asked: list[str] = []

    class Finder:
        def find_spec(self, name: str, *_: Any) -> None:
            asked.append(name)

    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])
    with pytest.raises(ImportError):
        import matplotlib  # noqa: F401
    assert asked == []
    assert find_spec("matplotlib") is None
