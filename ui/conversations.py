"""What happens when a person opens, begins, imports or exports a conversation, or changes a turn.

The events come from our own buttons, with data that a program may have made up.
"""

from __future__ import annotations

import secrets
from contextlib import aclosing
from typing import Any

import gradio as gr

from backend.errors import InputError
from ui import inputs, render
from ui.asking import BUSY, Asking, Views
from ui.export import TYPES, as_file
from ui.memory import Memory
from ui.paint import Painter, View
from ui.record import imported_title, parse, read_identity, read_record, short_title, title_of
from ui.session import Exchange, Session

NOTHING = "There is nothing to export yet: ask something first."


class Conversations:
    """Handlers around the conversations of all visitors.

    All are coroutines, as Gradio runs other functions in threads beside the event loop.
    """

    def __init__(self, paint: Painter, memory: Memory, asking: Asking, label: str) -> None:
        self._paint = paint
        self._memory = memory
        self._asking = asking
        self._label = label

    # Whole conversations

    async def open(self, event: gr.EventData, session: Session, typed: str = "") -> View:
        """Show a conversation that the browser has kept, as a reloaded page does by itself."""
        asked = inputs.read_event(event)
        record, is_reload = asked.get("record"), bool(asked.get("again"))
        identity = read_identity(record)
        held = self._memory.shelf.get(identity)
        is_kept = isinstance(record, dict) and "turns" in record
        if is_reload and (session.id or not (held or is_kept)):
            return (
                self._paint.nothing()
            )  # Somebody was faster than the page, or there is nothing to show.
        try:
            exchanges, draft = held or (read_record(record)[1], ())
        except InputError as error:
            return self._paint.say(error.message)
        if is_reload:
            session.draft = [item for item in draft if not item.checked().gone]
        again = session.unclear(identity, typed)
        fields = {self._paint.page.prompt: again} if again else {}
        return {**self._go(session, identity or secrets.token_hex(16), exchanges), **fields}

    async def note(self, session: Session) -> View:
        """The images that wait to be sent are others now."""
        return self._memory.note(session)

    async def begin(self, session: Session) -> View:
        """A new conversation; the one before stays in the browser."""
        return self._go(session, "", ())

    async def take_in(self, event: gr.EventData, session: Session) -> View:
        """Import a JSON file's text as a new conversation."""
        try:
            title, exchanges = parse(str(inputs.read_event(event).get("text", "")))
        except InputError as error:
            return self._paint.say(error.message)
        before = self._leave(session)
        session.open(secrets.token_hex(16), exchanges)
        said = self._memory.keep(session, imported_title(title), before=before)
        return {**self._paint.idle(session), **self._paint.say(), **said}

    async def write(self, event: gr.EventData, session: Session) -> View:
        """Export the conversation as a file, which the browser saves."""
        asked = inputs.read_event(event)
        kind, title = asked.get("kind"), short_title(str(asked.get("title") or ""))
        if kind not in TYPES:
            return self._paint.nothing()
        if not session.exchanges:
            return self._paint.say(NOTHING)
        title = title or title_of(session.exchanges)
        return self._memory.tell(file=as_file(kind, title, self._label, session.exchanges))

    async def forget(self, session: Session, typed: str) -> View:
        """Clear: the conversation is gone from the browser too, unless it is undone there."""
        identity = session.id
        session.clear(typed)
        page = self._paint.page
        told = self._memory.tell(forget=identity, undo=True, current="")
        fields = {page.prompt: "", page.url: ""}
        return {**self._paint.idle(session), **fields, **self._paint.say(), **told}

    def _go(self, session: Session, identity: str, exchanges: Any) -> View:
        before = self._leave(session)
        session.open(identity, [exchange.checked() for exchange in exchanges])
        told = self._memory.tell(before=before, current=identity)
        return {**self._paint.idle(session), **self._paint.say(), **told}

    def _leave(self, session: Session) -> Any:
        """Stop an answer under way; the record of the conversation that it belongs to, if any."""
        if not session.run:
            return None
        session.leave()
        return self._memory.record(session)

    # Turns

    async def again(self, event: gr.EventData, session: Session, *fields: Any) -> Views:
        """Regenerate the last answer, with the settings as they now are."""
        index = self._turn(event, session)
        if index is None or index != len(session.exchanges) - 1:
            return
        question = session.exchanges[index]
        session.stop_editing()
        anew = Exchange(question.prompt, question.attachments)
        async with aclosing(self._asking.ask(session, anew, fields, index)) as views:
            async for view in views:
                yield view

    async def edit(self, event: gr.EventData, session: Session, prompt: str) -> View:
        """Put an earlier question back into the fields, to be sent anew with its images."""
        index = self._turn(event, session)
        if index is None:
            return self._paint.nothing()
        if session.run:
            return self._paint.say(BUSY)
        question = session.edit(index, prompt)
        page = self._paint.page
        return {page.prompt: question, **self._paint.draft(session), **self._paint.say()}

    async def cancel(self, session: Session) -> View:
        """Leave off editing: the fields are as they were before."""
        if not session.stop_editing():
            return self._paint.nothing()
        page = self._paint.page
        return {page.prompt: session.unsent, **self._paint.draft(session), **self._paint.say()}

    async def delete(self, event: gr.EventData, session: Session) -> View:
        """Forget a question and its answer."""
        index = self._turn(event, session)
        if index is None:
            return self._paint.nothing()
        if session.run:
            return self._paint.say(BUSY)
        session.delete(index)
        notice = render.notice(f"Question {index + 1} is deleted.", "undelete", "Undo")
        said = {self._paint.page.message: notice}
        return {**self._paint.idle(session), **said, **self._memory.keep(session)}

    async def undelete(self, session: Session) -> View:
        """Bring the last deleted question back, with its answer."""
        if session.run:
            return self._paint.say(BUSY)
        index = session.undelete()
        if index is None:
            return self._paint.nothing()
        said = {self._paint.page.message: render.notice(f"Question {index + 1} is back.")}
        return {**self._paint.idle(session), **said, **self._memory.keep(session)}

    def _turn(self, event: gr.EventData, session: Session) -> int | None:
        return inputs.read_index(event, len(session.exchanges))
