"""What happens when a person does something: translate, delegate to the backend, draw.

Every handler answers with the components it changes; all of them run on the server's one event
loop, so a session is never changed by two of them at the same moment.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import BifocalError
from backend.types import Fit, ImageInput
from ui import inputs, render
from ui.components import Page
from ui.examples import Example
from ui.paint import Painter, View
from ui.session import Attachment, Exchange, Session
from ui.stream import Progress, Run
from ui.thumbnails import thumbnail

if TYPE_CHECKING:
    from backend.service import Bifocal

Views = AsyncGenerator[View, None]

BUSY = "An answer is under way: wait for it, or stop it first."
NO_ADDRESS = "Type or paste the address of a picture first."
STOPPED = "Stopped before the first word. Your question is back in its box."
BROKEN = "Something went wrong inside Bifocal; its log says what. Your question can be sent again."


class Handlers:
    """The page's handlers around one backend."""

    def __init__(self, backend: Bifocal, page: Page, examples: Sequence[Example]) -> None:
        self.backend = backend
        self.page = page
        self.paint = Painter(page, backend)
        self.examples = examples

    # Images

    async def add_files(self, session: Session, paths: list[str] | None, fit: Fit) -> View:
        """Uploaded, dropped or pasted files become images of the draft."""
        problems = [await self._attach(session, item, fit) for item in inputs.read_files(paths)]
        return {self.page.files: None, **self.paint.draft(session), **self.paint.say(*problems)}

    async def add_urls(self, session: Session, text: str, fit: Fit) -> Views:
        """Addresses become images; those that fail stay in the field, to be mended."""
        images = inputs.read_urls(text)
        if not images:
            yield self.paint.say(NO_ADDRESS)
            return
        yield {self.page.message: render.notice("Fetching the picture …")}
        problems = [await self._attach(session, image, fit) for image in images]
        failed = [i.location for i, problem in zip(images, problems, strict=True) if problem]
        yield {
            self.page.url: "\n".join(failed),
            **self.paint.draft(session),
            **self.paint.say(*problems),
        }

    async def refit(self, session: Session, fit: Fit) -> View:
        """Another fit: measure the images of the draft again."""
        try:
            for item in tuple(session.draft):
                placed = await self.backend.place(item.image, fit)
                session.swap(item, replace(item, placed=placed))
        except BifocalError as error:
            return self.paint.say(error.message)
        return self.paint.draft(session)

    def remove(self, event: gr.EventData, session: Session) -> View:
        """Take an image out of the draft."""
        index = event._data.get("index")
        if isinstance(index, int) and 0 <= index < len(session.draft):
            del session.draft[index]
        return {**self.paint.draft(session), **self.paint.say()}

    async def _attach(self, session: Session, image: ImageInput, fit: Fit) -> str:
        """Add one image to the draft; what is wrong with it, or nothing."""
        try:
            session.draft.append(await self._measure(image, fit))
        except BifocalError as error:
            return error.message
        return ""

    async def _measure(self, image: ImageInput, fit: Fit | None) -> Attachment:
        placed = await self.backend.place(image, fit)
        return Attachment(image, placed, await thumbnail(self.backend, image))

    # Questions

    async def send(self, session: Session, prompt: str, urls: str, *fields: Any) -> Views:
        """Ask the question in the prompt box about the images of the draft."""
        if urls.strip():
            async with aclosing(self.add_urls(session, urls, fields[-1])) as views:
                async for view in views:
                    yield view
            if view[self.page.url]:
                return
        exchange = Exchange(prompt.strip(), tuple(session.draft))
        async with aclosing(self._ask(session, exchange, fields)) as views:
            async for view in views:
                yield view

    async def pick(self, event: gr.EventData, session: Session, *fields: Any) -> Views:
        """Ask an example's question about its picture, in a new conversation."""
        index = event._data.get("index")
        if not isinstance(index, int) or not 0 <= index < len(self.examples):
            return
        example = self.examples[index]
        try:
            item = await self._measure(example.image, fields[-1])
        except BifocalError as error:
            yield self.paint.say(error.message)
            return
        exchange = Exchange(example.question, (item,))
        async with aclosing(self._ask(session, exchange, fields, anew=True)) as views:
            async for view in views:
                yield view

    async def _ask(
        self, session: Session, exchange: Exchange, fields: Sequence[Any], anew: bool = False
    ) -> Views:
        """Check a question, then stream its answer; a message in place where it is not right."""
        try:
            options = inputs.read_options(*fields)
            request = inputs.read_question(Session() if anew else session, exchange, options)
            self.backend.check(request)
        except BifocalError as error:
            yield self.paint.say(error.message)
            return
        if session.run:
            yield self.paint.say(BUSY)
            return
        if anew:
            session.clear()
        session.ask(exchange, Run(self.backend.stream(request)))
        async with aclosing(self._answer(session)) as views:
            async for view in views:
                yield view

    async def _answer(self, session: Session) -> Views:
        """Stream one answer into the page. On an error all is put back as it was before."""
        run = session.run
        assert run
        try:
            async with aclosing(self._progress(session, run)) as views:
                async for view in views:
                    yield view
        except BifocalError as error:
            if session.run is run:
                session.run = None
                yield self.paint.put_back(session, render.problem(error.message))
        finally:
            run.stop()
            if session.run is run:
                session.run = None

    async def _progress(self, session: Session, run: Run) -> Views:
        progress, earlier = Progress(self.backend), render.transcript(session.exchanges)
        yield self.paint.begin(session)
        async with aclosing(run.batches()) as batches:
            async for events in batches:
                progress.add(events)
                if session.run is not run:
                    return
                yield self.paint.during(session, progress, earlier, events)
        if session.run is not run:
            return
        if run.stopped and not progress.text:
            yield self.paint.put_back(session, render.notice(STOPPED))
        else:
            session.finish(progress.result("abort"))
            yield self.paint.idle(session)

    # Everything else

    def stop(self, session: Session, typed: str) -> None:
        """Stop the visitor's answer; the handler that streams it draws the end."""
        session.typed = typed
        session.stop()

    def clear(self, session: Session) -> View:
        """Forget the conversation."""
        session.clear()
        page = self.page
        return {**self.paint.idle(session), page.prompt: "", page.url: "", **self.paint.say()}

    def repair(self, session: Session) -> View:
        """After a fault of ours: let the person go on."""
        return {**self.paint.idle(session), **self.paint.say(BROKEN)}

    def poll(self, session: Session) -> tuple[Any, Any]:
        """The status line and the pace of polling, where they have changed."""
        health = self.backend.health()
        shown = render.status(health)
        if shown == session.status_shown:
            return gr.skip(), gr.skip()
        session.status_shown = shown
        return shown, gr.Timer(1.0 if health.status == "loading" else 3.0)
