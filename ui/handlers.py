"""What happens when a person does something: translate, delegate to the backend, draw.

Every handler answers with the components it changes; all of them run on the server's one event
loop, so a session is never changed by two of them at the same moment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import BifocalError
from backend.types import ChatRequest, Fit, ImageInput, ImagesEvent, Sampling
from ui import buckets, inputs, render, timeline
from ui.components import Page
from ui.examples import Example
from ui.session import Attachment, Exchange, Session
from ui.stream import Progress, Run
from ui.thumbnails import thumbnail

if TYPE_CHECKING:
    from backend.service import Bifocal

View = dict[Any, Any]

BUSY = "An answer is under way: wait for it, or stop it first."
NO_ADDRESS = "Type or paste the address of a picture first."
BROKEN = "Something went wrong inside Bifocal; its log says what. Your question can be sent again."


@dataclass(frozen=True, slots=True)
class Options:
    """The settings drawer, checked."""

    system_prompt: str
    sampling: Sampling
    fit: Fit

    @classmethod
    def read(
        cls, system: str, temperature: float, top_p: float, tokens: float, seed: float, fit: Fit
    ) -> Options:
        """From the drawer's fields; raises InputError where one is out of range."""
        return cls(system or "", inputs.read_sampling(temperature, top_p, tokens, seed), fit)


class Handlers:
    """The page's handlers around one backend."""

    def __init__(self, backend: Bifocal, page: Page, examples: Sequence[Example]) -> None:
        self.backend = backend
        self.page = page
        self.examples = examples

    # Images

    async def add_files(self, session: Session, paths: list[str] | None) -> View:
        """Uploaded, dropped or pasted files become images of the draft."""
        problems = [await self._attach(session, image) for image in inputs.read_files(paths)]
        return {self.page.files: None, **self._draft(session), **self._say(problems)}

    async def add_urls(self, session: Session, text: str) -> AsyncIterator[View]:
        """Addresses become images; those that fail stay in the field, to be mended."""
        images = inputs.read_urls(text)
        if not images:
            yield self._say([NO_ADDRESS])
            return
        yield {self.page.message: render.notice(f"Fetching {images[0].name} …")}
        problems = [await self._attach(session, image) for image in images]
        failed = [image.name for image, problem in zip(images, problems, strict=True) if problem]
        yield {self.page.url: "\n".join(failed), **self._draft(session), **self._say(problems)}

    def remove(self, event: gr.EventData, session: Session) -> View:
        """Take an image out of the draft."""
        index = event._data.get("index")
        if isinstance(index, int) and 0 <= index < len(session.draft):
            del session.draft[index]
        return {**self._draft(session), **self._say([])}

    async def _attach(self, session: Session, image: ImageInput) -> str:
        """Add one image to the draft; what is wrong with it, or nothing."""
        try:
            inputs.check_count(self.backend, len(session.images()) + 1)
            session.draft.append(await self._measure(image))
        except BifocalError as error:
            return error.message
        return ""

    async def _measure(self, image: ImageInput) -> Attachment:
        placed = await self.backend.place(image)
        return Attachment(image, placed, await thumbnail(self.backend, image))

    # Questions

    async def send(
        self, session: Session, prompt: str, urls: str, *fields: Any
    ) -> AsyncIterator[View]:
        """Ask the question in the prompt box about the images of the draft."""
        try:
            question, options = inputs.read_prompt(prompt), Options.read(*fields)
        except BifocalError as error:
            yield self._say([error.message])
            return
        if urls.strip():
            async with aclosing(self.add_urls(session, urls)) as views:
                async for view in views:
                    yield view
            if view.get(self.page.url):
                return
        exchange = Exchange(question, tuple(session.draft))
        async with aclosing(self._answer(session, exchange, options)) as views:
            async for view in views:
                yield view

    async def pick(
        self, event: gr.EventData, session: Session, *fields: Any
    ) -> AsyncIterator[View]:
        """Ask an example's question about its picture, in a new conversation."""
        index = event._data.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self.examples):
            return
        if session.run:
            yield self._say([BUSY])
            return
        example = self.examples[index]
        try:
            options, item = Options.read(*fields), await self._measure(example.image)
        except BifocalError as error:
            yield self._say([error.message])
            return
        session.clear()
        async with aclosing(
            self._answer(session, Exchange(example.question, (item,)), options)
        ) as views:
            async for view in views:
                yield view

    async def _answer(
        self, session: Session, exchange: Exchange, options: Options
    ) -> AsyncIterator[View]:
        """Stream one answer into the page. On an error all is put back as it was before."""
        if session.run:
            yield self._say([BUSY])
            return
        session.exchanges.append(exchange)
        session.draft.clear()
        request = ChatRequest(
            session.turns(options.system_prompt), options.sampling, fit=options.fit
        )
        run = session.run = Run(self.backend.stream(request))
        try:
            async with aclosing(self._progress(session, run)) as views:
                async for view in views:
                    yield view
        except BifocalError as error:
            if session.run is run:
                yield self._put_back(session, error.message)
        finally:
            run.stop()
            if session.run is run:
                session.run = None

    async def _progress(self, session: Session, run: Run) -> AsyncIterator[View]:
        page, progress = self.page, Progress(self.backend)
        earlier = render.transcript(session.exchanges)
        yield {page.prompt: "", **self._say([]), **self._draft(session), **self._busy(True),
               page.chat: earlier + render.live(""), page.timeline: timeline.panel(None)}  # fmt: skip
        async with aclosing(run.batches()) as batches:
            async for events in batches:
                progress.add(events)
                if session.run is not run:
                    return
                yield self._during(session, progress, earlier, events)
        if session.run is run:
            session.exchanges[-1] = replace(
                session.exchanges[-1], result=progress.result("abort")
            )
            yield self.view(session)

    def _during(
        self, session: Session, progress: Progress, earlier: list[Any], events: list[Any]
    ) -> View:
        page = self.page
        view: View = {page.stage: render.stage(progress.stage, progress.seconds)}
        if progress.text:
            view[page.chat] = earlier + render.live(progress.text)
        if any(isinstance(event, ImagesEvent) for event in events):
            view[page.buckets] = buckets.panel(session.images(), progress.images)
        return view

    def _put_back(self, session: Session, message: str) -> View:
        exchange = session.exchanges.pop()
        session.draft[:0] = exchange.attachments
        return {
            **self.view(session),
            self.page.prompt: exchange.prompt,
            self.page.message: render.problem(message),
        }

    # Everything else

    def stop(self, session: Session) -> None:
        """Stop this session's answer; its own handler draws the end."""
        session.stop()

    def clear(self, session: Session) -> View:
        """Forget the conversation."""
        session.clear()
        return {**self.view(session), self.page.prompt: "", self.page.url: "", **self._say([])}

    def repair(self, session: Session) -> View:
        """After a fault of ours: let the person go on."""
        return {**self.view(session), **self._say([BROKEN])}

    def poll(self, session: Session) -> tuple[Any, Any]:
        """The status line and the pace of polling, where they have changed."""
        health = self.backend.health()
        shown = render.status(health)
        if shown == session.status_shown:
            return gr.skip(), gr.skip()
        session.status_shown = shown
        return shown, gr.Timer(1.0 if health.status == "loading" else 3.0)

    def view(self, session: Session) -> View:
        """The whole page as the session has it, while no answer is under way."""
        last = session.exchanges[-1].result if session.exchanges else None
        return {
            self.page.chat: render.transcript(session.exchanges),
            self.page.stage: "",
            self.page.timeline: timeline.panel(last),
            **self._draft(session),
            **self._busy(False),
        }

    def _draft(self, session: Session) -> View:
        sent = len(session.images()) - len(session.draft)
        last = session.exchanges[-1].result if session.exchanges else None
        return {
            self.page.draft: render.draft(session.draft, sent + 1),
            self.page.buckets: buckets.panel(session.images(), last.images if last else ()),
        }

    def _busy(self, is_busy: bool) -> View:
        return {
            self.page.send: gr.Button(visible="hidden" if is_busy else True),
            self.page.stop: gr.Button(visible=True if is_busy else "hidden"),
        }

    def _say(self, problems: Sequence[str]) -> View:
        return {self.page.message: render.problem(" ".join(filter(None, problems)))}
