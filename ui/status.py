"""The engines' panels kept up to date: often while something goes on, seldom while nothing does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.types import Health
from ui import masthead

if TYPE_CHECKING:
    from ui.components import Page
    from ui.session import Session

OFTEN_S, SELDOM_S = 0.8, 3.0


def changes(page: Page, session: Session, health: Health) -> dict[Any, Any]:
    """The panels and the pace of polling, where they are not as the page has them."""
    shown = masthead.status(health)
    calm = health.status in ("ready", "failed") and not session.run
    pace = SELDOM_S if calm and "busy" not in {e.state for e in health.engines} else OFTEN_S
    view: dict[Any, Any] = {}
    if shown != session.status_shown:
        view[page.status] = session.status_shown = shown
    if pace != session.pace:
        session.pace = pace
        view[page.timer] = gr.Timer(pace)
    return view
