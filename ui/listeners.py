"""Who still listens to an answer: one that nobody hears is given up.

Gradio notices a reader that breaks off. It does not notice one that never came: a page closed, or a
program ended, between asking and beginning to read. Its answer would run on to the last token.
"""

from __future__ import annotations

import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import fastapi
import gradio as gr
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import error_payload
from starlette.routing import Mount
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.errors import InputError
from ui.disk import DAY
from ui.sessions import LeanSessions

UNREAD_S: Final = 30.0
"""A program that asks and then reads takes much less; a person who types both commands, about this.
"""
AWAY_S: Final = 2.0
"""Between asking and reading, a page whose heartbeat broke off has no connection for an instant."""
STRANDED_S: Final = 0.5
"""Between asking and reading, a page that is well takes much less."""
READ_S: Final = 60.0
"""How long a call is remembered whose answer has been read."""
PAGE: Final = re.compile(r"/heartbeat/([^/?]+)$|/queue/data\?(?:.*&)?session_hash=([^&]+)")
"""A page holds a connection to the first as long as it is open, and to the second while it reads.
"""
CALL: Final = re.compile(r"/call/[^/?]+/([^/?]+)$")
"""A program reads its answer here."""


@dataclass
class Reading:
    """How far one session's messages have been read."""

    since: float
    written: int = 0
    read: int = 0


class Listeners:
    """Knows which sessions are read; one for the app.

    Sessions that nobody comes back for are passed to `forget`, once there is one.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._forget: Callable[[str], None] = lambda _: None
        self._clock = clock
        self._open: Counter[str] = Counter()
        self._reading: Counter[str] = Counter()
        self._messages: Mapping[str, Any] = {}
        self._gone: OrderedDict[str, float] = OrderedDict()
        self._called: OrderedDict[str, float] = OrderedDict()
        self._readings: WeakKeyDictionary[Any, Reading] = WeakKeyDictionary()

    def opened(self, session: str, reads: bool) -> None:
        """A page holds a connection; whether it `reads` messages there."""
        self._open[session] += 1
        self._reading[session] += reads
        self._gone.pop(session, None)

    def closed(self, session: str, reads: bool) -> None:
        """It let one go."""
        self._open[session] -= 1
        self._reading[session] -= reads
        if self._open[session] <= 0:
            del self._open[session], self._reading[session]
            self._gone[session] = self._clock()
            self._sweep(self._gone, DAY)

    def is_stranded(self, session: str) -> bool:
        """Whether there is something to read for a page that believes there is not.

        Gradio's client (6.31) leaves off reading when it is told that nothing is under way, even
        if a person has just done something: it would hear of that with the next thing they do,
        and a button that is used once at a time would wait for ever.
        """
        messages = self._messages.get(session)
        if messages is None or messages.empty() or self._reading[session]:
            return False
        since = self._readings[messages].since if messages in self._readings else self._clock()
        return self._clock() - since > STRANDED_S

    def called(self, session: str) -> None:
        """A program has read its answer, or left off."""
        self._called[session] = self._clock()
        self._sweep(self._called, READ_S)

    def _sweep(self, closed: OrderedDict[str, float], after: float) -> None:
        while closed and self._clock() - next(iter(closed.values())) > after:
            self._forget(closed.popitem(last=False)[0])

    def mind(self, blocks: gr.Blocks, forget: Callable[[str], None]) -> None:
        """From now on end the events of these blocks that nobody hears."""
        self._forget = forget
        queue = blocks._queue
        send_message = queue.send_message
        self._messages = queue.pending_messages_per_session

        def send(event: Any, message: Any) -> None:
            session = event.session_hash
            messages = queue.pending_messages_per_session.get(session)
            if messages is None or self._is_gone(session):
                event.alive = False
            elif event.alive and self._unread(messages):
                send_message(event, _unheard())
                event.alive = False
                if session == event._id:
                    self.called(session)
            else:
                send_message(event, message)

        queue.send_message = send

    def _is_gone(self, session: str) -> bool:
        return session in self._gone and self._clock() - self._gone[session] > AWAY_S

    def _unread(self, messages: Any) -> bool:
        """Whether a session's messages have not been taken for long; one is about to be added."""
        now = self._clock()
        reading = self._readings.setdefault(messages, Reading(now))
        read = reading.written - messages.qsize()
        if read > reading.read or messages.empty():
            reading.read, reading.since = read, now
        reading.written += 1
        return now - reading.since > UNREAD_S


class Connections:
    """Plain ASGI: tells the listeners which pages are open."""

    def __init__(self, app: ASGIApp, listeners: Listeners) -> None:
        self.app = app
        self.listeners = listeners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the connection on, and note its begin and its end."""
        query = scope.get("query_string", b"").decode("latin-1")
        address = f"{scope.get('path', '')}{'?' + query if query else ''}"
        page, call = PAGE.search(address), CALL.search(address)
        session = (page[1] or page[2]) if page else ""
        reads = bool(page and page[2])
        if page:
            self.listeners.opened(session, reads)
        try:
            await self.app(scope, receive, send)
        finally:
            if page:
                self.listeners.closed(session, reads)
            elif call:
                self.listeners.called(call[1])


def mind_listeners(app: fastapi.FastAPI, blocks: gr.Blocks, listeners: Listeners) -> None:
    """In an app that these blocks are mounted on: end what nobody hears, and keep sessions lean."""
    sessions = LeanSessions(blocks)
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, fastapi.FastAPI):
            mounted: Any = route.app
            mounted.state_holder = blocks.state_holder = sessions
    listeners.mind(blocks, sessions.forget)
    app.add_middleware(Connections, listeners=listeners)


def _unheard() -> ProcessCompletedMessage:
    error = InputError(
        "not_heard",
        f"Nobody read this answer for {UNREAD_S:.0f} seconds, so it was given up: ask again, and "
        "read it as it comes.",
    )
    content = error_payload(gr.Error(f"{error.code}: {error.message}"), True)
    return ProcessCompletedMessage(output=content, title="Error", success=False)
