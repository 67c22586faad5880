"""The page's state as updates of its components."""

from __future__ import annotations

from typing import Any

import gradio as gr

from backend.types import Event, ImagesEvent
from ui import buckets, render, timeline
from ui.components import Page
from ui.session import Session
from ui.stream import Progress

View = dict[Any, Any]


class Painter:
    """Draws a session, or what has changed of it, on the components of one page."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def idle(self, session: Session) -> View:
        """Everything, while no answer is under way."""
        last = session.exchanges[-1].result if session.exchanges else None
        return {
            self._page.chat: render.transcript(session.exchanges),
            self._page.stage: "",
            self._page.timeline: timeline.panel(last),
            **self.draft(session),
            **self._busy(False),
        }

    def begin(self, session: Session) -> View:
        """A question has just been asked."""
        return {
            self._page.prompt: "",
            self._page.chat: render.transcript(session.exchanges) + render.live(""),
            self._page.timeline: timeline.panel(None),
            **self.draft(session),
            **self.say(),
            **self._busy(True),
        }

    def during(
        self, session: Session, progress: Progress, earlier: list[Any], events: list[Event]
    ) -> View:
        """More of an answer. `earlier` is the transcript without it, drawn once and not again."""
        view: View = {self._page.stage: render.stage(progress.stage, progress.seconds)}
        if progress.text:
            view[self._page.chat] = earlier + render.live(progress.text)
        if any(isinstance(event, ImagesEvent) for event in events):
            view[self._page.buckets] = buckets.panel(
                session.images(), progress.images, under_way=True
            )
        return view

    def put_back(self, session: Session, message: str) -> View:
        """A question that came to nothing is in the fields again, with a message."""
        prompt = session.put_back()
        return {
            **self.idle(session),
            self._page.prompt: prompt,
            self._page.message: message,
        }

    def draft(self, session: Session) -> View:
        """The images about to be sent, and every image's bucket."""
        sent = len(session.images()) - len(session.draft)
        last = session.exchanges[-1].result if session.exchanges else None
        return {
            self._page.draft: render.draft(session.draft, sent + 1),
            self._page.buckets: buckets.panel(session.images(), last.images if last else ()),
        }

    def say(self, *problems: str) -> View:
        """Messages in place; none takes away what was there."""
        return {self._page.message: render.problem(" ".join(filter(None, problems)))}

    def _busy(self, is_busy: bool) -> View:
        return {
            self._page.send: gr.Button(visible="hidden" if is_busy else True),
            self._page.stop: gr.Button(visible=True if is_busy else "hidden"),
        }
