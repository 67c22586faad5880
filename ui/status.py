"""The engines' panels kept up to date: often while something goes on, seldom while nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.types import Health
from ui import masthead

if TYPE_CHECKING:
    from ui.components import Page
    from ui.session import Session

OFTEN_S, SELDOM_S = 0.8, 2.0


def panels(page: Page, health: Health) -> dict[Any, Any]:
    """The engines' panels."""
    return {page.status: masthead.status(health)}


def changes(page: Page, session: Session, health: Health, shown: str) -> dict[Any, Any]:
    """The panels and the pace of polling, where they are not as the page has them.

    `shown` is what the page really has. What it was last sent is no measure: answers to polls and
    the messages of an answer come on different ways, and the older one may come last.
    """
    calm = health.status in ("ready", "failed") and not session.run
    pace = SELDOM_S if calm and "busy" not in {e.state for e in health.engines} else OFTEN_S
    now = masthead.status(health)
    view: dict[Any, Any] = {} if now == shown else {page.status: now}
    if pace != session.pace:
        session.pace = pace
        view[page.timer] = gr.Timer(pace)
    return view
