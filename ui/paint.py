"""The page's state as updates of its components."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.types import Event, ImagesEvent, PlacedImage
from ui import buckets, render, status, timeline
from ui.components import Page
from ui.session import Session
from ui.stream import Progress
from ui.transcript import live, transcript
from ui.tray import tray

if TYPE_CHECKING:
    from backend.service import Bifocal

View = dict[Any, Any]


class Painter:
    """Draws a session, or what has changed of it, on the components of one page."""

    def __init__(self, page: Page, backend: Bifocal) -> None:
        self.page = page
        self._backend = backend

    def nothing(self) -> View:
        """No change. Gradio takes an empty answer for a forgotten one."""
        return {self.page.message: gr.skip()}

    def idle(self, session: Session) -> View:
        """Everything, while no answer is under way."""
        last = session.exchanges[-1].result if session.exchanges else None
        return {
            self.page.chat: transcript(session.exchanges),
            self.page.stage: "",
            self.page.timeline: timeline.panel(last if last and last.timings.total_s else None),
            **self.draft(session),
            **self._busy(False),
            **status.changes(self.page, session, self._backend.health()),
        }

    def begin(self, session: Session) -> View:
        """A question has just been asked."""
        return {
            **({} if session.asked_again or session.aside else {self.page.prompt: ""}),
            self.page.chat: transcript(session.exchanges, under_way=True) + live(""),
            self.page.timeline: timeline.panel(None),
            **self.draft(session),
            **self.say(),
            **self._busy(True),
            **status.changes(self.page, session, self._backend.health()),
        }

    def during(
        self, session: Session, progress: Progress, earlier: list[Any], events: list[Event]
    ) -> View:
        """More of an answer. `earlier` is the transcript without it, drawn once and not again."""
        view: View = {self.page.stage: render.stage(progress.stage, progress.seconds)}
        if progress.text:
            view[self.page.chat] = earlier + live(progress.text)
        if any(isinstance(event, ImagesEvent) for event in events):
            view[self.page.buckets] = self._buckets(session, progress.images, under_way=True)
        return view

    def put_back(self, session: Session, message: str) -> View:
        """A question that came to nothing is in the fields again, with a message."""
        prompt = session.put_back()
        return {
            **self.idle(session),
            **({} if prompt is None else {self.page.prompt: prompt}),
            self.page.message: message,
        }

    def draft(self, session: Session) -> View:
        """The images about to be sent, and every image's bucket."""
        place = session.place
        sent = sum(len(exchange.attachments) for exchange in session.exchanges[:place])
        last = session.exchanges[-1].result if session.exchanges else None
        drawn_anew = {self.page.chat: transcript(session.exchanges)} if session.restored else {}
        session.restored = False
        return {
            **drawn_anew,
            self.page.editing: render.editing(session.editing, len(session.exchanges)),
            self.page.draft: tray(session.draft, sent + 1),
            self.page.buckets: self._buckets(session, last.images if last else ()),
        }

    def _buckets(
        self, session: Session, answered: Iterable[PlacedImage], under_way: bool = False
    ) -> str:
        """Images that no answer has seen yet are drawn as the next question would have them.

        So are all of them where they must share one bucket, which a new image may change.
        """
        items = [item for item in session.images() if not item.gone]
        if session.draft and self._backend.plan.one_bucket:
            answered = ()
        together = self._backend.together([item.placed for item in items])
        asked = [replace(i, placed=placed) for i, placed in zip(items, together, strict=True)]
        return buckets.panel(asked, self._backend.plan.ctx_len, answered, under_way)

    def say(self, *problems: str) -> View:
        """Messages in place; none takes away what was there."""
        return {self.page.message: render.problem(" ".join(filter(None, problems)))}

    def _busy(self, is_busy: bool) -> View:
        return {
            self.page.send: gr.Button(visible="hidden" if is_busy else True),
            self.page.stop: gr.Button(visible=True if is_busy else "hidden"),
        }
