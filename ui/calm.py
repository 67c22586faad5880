"""Gradio's queue without what it does over and over while nobody asks, and after every event; and
with room for every answer that the backend takes."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from typing import Final

import gradio as gr

LOOK_S: Final = 0.01
"""Between two looks for a new event. Gradio looks a thousand times a second, which is several per
cent of a core that an engine on the CPU computes with."""
PROGRESS_S: Final = 1.0
"""Between two looks for progress bars, which this app has none of; Gradio's is a hundredth."""
NEVER: Final = 10**12
OTHER_EVENTS: Final = 200
"""Events beside answers that may be under way: clicks, and questions that are refused."""


def calm(blocks: gr.Blocks, answers: int) -> None:
    """To be called after `blocks.queue()`; `answers` is how many may wait or run at once.

    Gradio runs 40 events at a time, and an answer is one until it ends: with so many of them every
    other click, Stop among them, would wait, and the backend's own queue would never be full.

    After every event Gradio (6.31) also makes a table of the last 10,000 with pandas, for
    statistics that this app does not show; and with every update of an answer it tries twice to
    import matplotlib, for which Python goes through all its folders each time.
    """
    if find_spec("matplotlib") is None:
        # What Python itself notes for a module that must not be found.
        sys.modules["matplotlib"] = None  # type: ignore[assignment]
    queue = blocks._queue
    queue.max_thread_count = answers + OTHER_EVENTS
    queue.sleep_when_free = LOOK_S
    queue.progress_update_sleep_when_free = PROGRESS_S
    queue.ANALYTICS_MAX_EVENTS = 1
    queue.ANAYLTICS_CACHE_FREQUENCY = NEVER  # Gradio's own spelling.
