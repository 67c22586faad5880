"""Who still listens to an answer: one that nobody hears is given up.

Gradio notices a reader that breaks off. It does not notice one that never came: a page closed, or a
program ended, between asking and beginning to read. Its answer would run on to the last token.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import gradio as gr
from gradio.server_messages import ProcessCompletedMessage
from gradio.utils import LRUCache, error_payload
from starlette.types import ASGIApp, Receive, Scope, Send

from backend.errors import InputError

UNREAD_S: Final = 30.0
"""A program that asks and then reads takes much less; a person who types both commands, about this.
"""
AWAY_S: Final = 2.0
"""Between asking and reading, a page whose heartbeat broke off has no connection for an instant."""
GONE: Final = 10_000
"""Closed pages that are remembered."""
HELD: Final = re.compile(r"/heartbeat/([^/?]+)$|/queue/data\?(?:.*&)?session_hash=([^&]+)")
"""A page holds a connection to the first as long as it is open, and to the second while it reads.
"""


@dataclass
class Reading:
    """How far one session's messages have been read."""

    since: float
    written: int = 0
    read: int = 0


class Listeners:
    """Knows which sessions are read; one for the app."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._open: Counter[str] = Counter()
        self._gone: LRUCache[str, float] = LRUCache(GONE)
        self._readings: WeakKeyDictionary[Any, Reading] = WeakKeyDictionary()

    def opened(self, session: str) -> None:
        """A page holds a connection."""
        self._open[session] += 1
        self._gone.pop(session, None)

    def closed(self, session: str) -> None:
        """It let one go."""
        self._open[session] -= 1
        if self._open[session] <= 0:
            del self._open[session]
            self._gone[session] = self._clock()

    def mind(self, blocks: gr.Blocks) -> None:
        """From now on end the events of these blocks that nobody hears."""
        queue = blocks._queue
        send_message = queue.send_message

        def send(event: Any, message: Any) -> None:
            session = event.session_hash
            messages = queue.pending_messages_per_session.get(session)
            if messages is None or self._is_gone(session):
                event.alive = False
            elif event.alive and self._unread(messages):
                send_message(event, _unheard())
                event.alive = False
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
        found = HELD.search(f"{scope.get('path', '')}{'?' + query if query else ''}")
        if not found:
            await self.app(scope, receive, send)
            return
        session = found[1] or found[2]
        self.listeners.opened(session)
        try:
            await self.app(scope, receive, send)
        finally:
            self.listeners.closed(session)


def _unheard() -> ProcessCompletedMessage:
    error = InputError(
        "not_heard",
        f"Nobody read this answer for {UNREAD_S:.0f} seconds, so it was given up: ask again, and "
        "read it as it comes.",
    )
    content = error_payload(gr.Error(f"{error.code}: {error.message}"), True)
    return ProcessCompletedMessage(output=content, title="Error", success=False)
