"""What happens when a person does something: translate, delegate to the backend, draw.

Every handler answers with the components it changes; all of them run on the server's one event
loop, so a session is never changed by two of them at the same moment.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import BifocalError
from backend.placement import Fit
from backend.types import ImageInput
from ui import inputs, render, status
from ui.asking import BROKEN, Asking, Views
from ui.components import Page
from ui.conversations import Conversations
from ui.examples import Example
from ui.listeners import Listeners
from ui.memory import Memory
from ui.paint import Painter, View
from ui.session import Attachment, Exchange, Session
from ui.thumbnails import thumbnail
from ui.tray import moved

if TYPE_CHECKING:
    from backend.service import Bifocal

BACK = "What was missing is back in its old place: you can go on asking about it."
NO_ADDRESS = "Type or paste the address of a picture first."


class Handlers:
    """The page's handlers around one backend."""

    def __init__(
        self, backend: Bifocal, page: Page, examples: Sequence[Example], listeners: Listeners
    ) -> None:
        self.backend = backend
        self.page = page
        self.listeners = listeners
        self.paint = Painter(page, backend)
        self.examples = examples
        memory = Memory(page, backend.plan)
        self.asking = Asking(backend, self.paint, memory)
        self.conversations = Conversations(self.paint, memory, self.asking, backend.plan.label)

    # Images

    async def add_files(self, session: Session, paths: list[str] | None, fit: Fit) -> View:
        """Uploaded, dropped or pasted files become images of the draft."""
        problems = [await self._attach(session, item, fit) for item in inputs.read_files(paths)]
        problems.append(self._too_many(session))
        said = self._told(session, problems)
        return {self.page.files: None, **self.paint.draft(session), **said}

    async def add_photo(self, session: Session, path: str | None, fit: Fit) -> View:
        """A photo from the camera becomes an image of the draft."""
        added = await self.add_files(session, [path] if path else None, fit)
        return {**added, self.page.photo: None}

    async def add_urls(self, session: Session, text: str, fit: Fit) -> Views:
        """Addresses become images; those that fail stay in the field, to be mended."""
        images = inputs.read_urls(text)
        if not images:
            yield self.paint.say(NO_ADDRESS)
            return
        yield {self.page.message: render.notice("Fetching the picture …")}
        problems = [await self._attach(session, image, fit) for image in images]
        said = self._told(session, [*problems, self._too_many(session)])
        failed = [i.location for i, problem in zip(images, problems, strict=True) if problem]
        yield {
            self.page.url: "\n".join(failed),
            **self.paint.draft(session),
            **said,
        }

    async def refit(self, session: Session, fit: Fit) -> View:
        """Another fit: measure every image again, as the next question will have them all so."""
        try:
            known = {id(item): item for item in [*session.images(), *session.waiting]}
            for item in [item for item in known.values() if not item.gone]:
                placed = await self.backend.place(item.image, fit)
                session.swap(item, replace(item, placed=placed))
        except BifocalError as error:
            return self.paint.say(error.message)
        return self.paint.draft(session)

    async def move(self, event: gr.EventData, session: Session) -> View:
        """Put an image of the draft in another place of the order."""
        asked = inputs.read_event(event)
        places: list[Any] = [asked.get(name) for name in ("from", "to")]
        if all(type(place) is int for place in places):
            session.draft = moved(session.draft, *places)
        return {**self.paint.draft(session), **self.paint.say()}

    async def remove(self, event: gr.EventData, session: Session) -> View:
        """Take an image out of the draft."""
        index = inputs.read_index(event, len(session.draft))
        if index is not None:
            del session.draft[index]
        return {**self.paint.draft(session), **self.paint.say()}

    def _told(self, session: Session, problems: Sequence[str]) -> View:
        """What is wrong with new images, or that one has gone where it was missing."""
        if session.restored and not any(problems):
            return {self.page.message: render.notice(BACK)}
        return self.paint.say(*problems)

    def _too_many(self, session: Session) -> str:
        """What is wrong with the number of images, which a question would be refused for."""
        count, most = len(session.images()), self.backend.plan.max_images
        if count <= most:
            return ""
        return (
            f"These are {count} images; {self.backend.plan.label} takes at most {most} in one "
            "conversation. Remove some before you ask."
        )

    async def _attach(self, session: Session, image: ImageInput, fit: Fit) -> str:
        """Add one image to the draft; what is wrong with it, or nothing."""
        try:
            session.attach(await self._measure(image, fit))
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
        async with aclosing(self.asking.ask(session, exchange, fields)) as views:
            async for view in views:
                yield view

    async def pick(self, event: gr.EventData, session: Session, *fields: Any) -> Views:
        """Ask an example's question about its picture, in a new conversation."""
        index = inputs.read_index(event, len(self.examples))
        if index is None:
            return
        example = self.examples[index]
        try:
            item = await self._measure(example.image, fields[-1])
        except BifocalError as error:
            yield self.paint.say(error.message)
            return
        exchange = Exchange(example.question, (item,))
        async with aclosing(self.asking.ask(session, exchange, fields, anew=True)) as views:
            async for view in views:
                yield view

    # Everything else

    async def stop(self, session: Session, typed: str) -> None:
        """Stop the visitor's answer; the handler that streams it draws the end."""
        session.typed = typed
        session.stop()

    async def repair(self, session: Session) -> View:
        """After a fault of ours: let the person go on."""
        return {**self.paint.idle(session), **self.paint.say(BROKEN)}

    async def poll(self, session: Session, shown: str, request: gr.Request) -> tuple[Any, Any, Any]:
        """The status line and the pace of polling, where they have changed; and a change that
        wakes a page that does not know that there is something for it to read."""
        found = status.changes(self.page, session, self.backend.health(), shown)
        is_stranded = self.listeners.is_stranded(request.session_hash or "")
        return (
            found.get(self.page.status, gr.skip()),
            found.get(self.page.timer, gr.skip()),
            secrets.token_hex(4) if is_stranded else gr.skip(),
        )

    async def wake(self) -> None:
        """Nothing: that it is asked for makes the page read again."""
