"""The page's state as updates of its components."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.placement import PlacedImage
from backend.types import Event, ImagesEvent, StageEvent
from ui import buckets, render, status, timeline
from ui.components import Page
from ui.session import Session
from ui.stream import Progress
from ui.transcript import live, transcript
from ui.tray import tray

if TYPE_CHECKING:
    from backend.service import Bifocal

View = dict[Any, Any]

ASKED = StageEvent("fetch", "Your question is on its way")
"""Until the backend says more. As long as a stage is shown the page has Stop in Send's place."""


class Painter:
    """Draws a session, or what has changed of it, on the components of one page.

    While an answer is streamed a component is given its value, and never an update of one of its
    properties: Gradio's client loses those when the next message comes at once.
    """

    def __init__(self, page: Page, backend: Bifocal) -> None:
        self.page = page
        self._backend = backend

    def nothing(self) -> View:
        """No change. Gradio takes an empty answer for a forgotten one."""
        return {self.page.message: gr.skip()}

    def idle(self, session: Session) -> View:
        """Everything, while no answer is under way."""
        last = session.exchanges[-1].result if session.exchanges else None
        timed = last if last and last.timings.total_s else None
        return {
            self.page.chat: transcript(session.exchanges),
            self.page.stage: "",
            self.page.timeline: timeline.panel(timed, session.answered),
            **self.draft(session),
            **status.panels(self.page, self._backend.health()),
        }

    def afresh(self, session: Session) -> View:
        """Everything, whatever the page may have of it."""
        session.panel_shown = ""
        return self.idle(session)

    def begin(self, session: Session) -> View:
        """A question has just been asked."""
        return {
            **({} if session.asked_again or session.aside else {self.page.prompt: ""}),
            self.page.chat: transcript(session.exchanges, under_way=True) + live(""),
            self.page.stage: render.stage(ASKED, 0),
            self.page.timeline: timeline.panel(None, session.answered),
            **self.draft(session),
            **self.say(),
            **status.panels(self.page, self._backend.health()),
        }

    def during(
        self, session: Session, progress: Progress, earlier: list[Any], events: list[Event]
    ) -> View:
        """More of an answer. `earlier` is the transcript without it, drawn once and not again."""
        view: View = {self.page.stage: render.stage(progress.stage or ASKED, progress.seconds)}
        if progress.text:
            view[self.page.chat] = earlier + live(progress.text)
        if any(isinstance(event, ImagesEvent) for event in events) and not _as_told(
            session, progress.images
        ):
            panel = self._buckets(session, progress.images, under_way=True)
            view |= self._changed(session, panel)
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
            **self._changed(session, self._buckets(session, last.images if last else ())),
        }

    def _changed(self, session: Session, panel: str) -> View:
        """The bucket panel, unless the page has it: to draw its pictures anew costs a browser more
        than all else that an answer begins with."""
        if panel == session.panel_shown:
            return {}
        session.panel_shown = panel
        return {self.page.buckets: panel}

    def _buckets(
        self, session: Session, answered: Iterable[PlacedImage], under_way: bool = False
    ) -> str:
        """Images that no answer has seen yet are drawn as the next question would have them.

        So are all of them where they must share one bucket, which a new image may change.
        """
        numbered = [(n, item) for n, item in enumerate(session.images(), 1) if not item.gone]
        items = [item for _, item in numbered]
        if session.draft and self._backend.plan.one_bucket:
            answered = ()
        together = self._backend.together([item.placed for item in items])
        asked = [replace(i, placed=placed) for i, placed in zip(items, together, strict=True)]
        numbers = [number for number, _ in numbered]
        return buckets.panel(asked, self._backend.plan.ctx_len, answered, under_way, numbers)

    def say(self, *problems: str) -> View:
        """Messages in place; none takes away what was there."""
        return {self.page.message: render.problem(" ".join(filter(None, problems)))}


def _as_told(session: Session, images: Iterable[PlacedImage]) -> bool:
    """Whether the answer's images are placed as the page has them. What else it tells of them can
    wait for its end: drawing the panel is long, and would be just before the first word."""
    told = {(item.placed.sha256, item.placed.placement) for item in session.images()}
    return told.issuperset((image.sha256, image.placement) for image in images)
