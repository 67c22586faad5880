"""Admission: how many requests there may be, whose turn it is, and who has to come again later.

Two bounds. `most` requests may be here at all, waiting or running; one more is refused. Of these
`at_once` may be in an engine: enough to keep it busy, so that the queue is here, where it can be
fair and tell everyone's place, and not inside the engine. Each engine has a queue of its own.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from backend.errors import BusyError

SHARE: Final = 4
"""One client may have a quarter of all places, but always some."""
LEAST_PLACES: Final = 4


def places_each(most: int) -> int:
    """Requests that one client may have here, of `most` in all."""
    return min(most, max(LEAST_PLACES, most // SHARE))


@dataclass(eq=False, slots=True)
class Ticket:
    """One request on its way in."""

    client: str
    size: int = 1
    """How many of `at_once` it takes; one that takes more than there are goes in alone."""
    running: bool = False
    moved: asyncio.Event = field(default_factory=asyncio.Event)
    """Set whenever the place in the queue may have changed."""


class Admission:
    """The queue before an engine. Belongs to one event loop."""

    def __init__(self, most: int, at_once: int) -> None:
        self._most, self._at_once = most, at_once
        self._each = places_each(most)
        self._here: dict[str, int] = {}
        self._queues: dict[str, deque[Ticket]] = {}
        """Of each client who waits; the order of the keys is the order of turns."""
        self.running = 0

    @property
    def waiting(self) -> int:
        """Requests that are queued for the engines."""
        return sum(map(len, self._queues.values()))

    @property
    def inside(self) -> int:
        """Requests that have a place, whatever they do."""
        return sum(self._here.values())

    @contextmanager
    def place(self, client: str, size: int = 1) -> Iterator[Ticket]:
        """A place for one request. Raises BusyError where there is none left for this client."""
        if self._here.get(client, 0) >= self._each:
            raise BusyError(
                f"You have {self._each} questions under way here, which is the most for one person:"
                " wait for an answer, then ask again."
            )
        if self.inside >= self._most:
            raise BusyError(
                f"All {self._most} places are taken: try again in {self._hint()} seconds."
            )
        ticket = Ticket(client, size)
        self._here[client] = self._here.get(client, 0) + 1
        try:
            yield ticket
        finally:
            self._here[client] -= 1
            if not self._here[client]:
                del self._here[client]
            self._leave(ticket)

    async def turn(self, ticket: Ticket) -> AsyncGenerator[int, None]:
        """Until it is the ticket's turn: how many go before it, whenever that changes."""
        self._queues.setdefault(ticket.client, deque()).append(ticket)
        self._admit()
        told = -1
        while not ticket.running:
            before = self._before(ticket)
            if before != told:
                told = before
                yield before
            await ticket.moved.wait()
            ticket.moved.clear()

    def _leave(self, ticket: Ticket) -> None:
        if ticket.running:
            self.running -= ticket.size
        elif ticket in self._queues.get(ticket.client, ()):
            self._queues[ticket.client].remove(ticket)
            if not self._queues[ticket.client]:
                del self._queues[ticket.client]
        self._admit()

    def _admit(self) -> None:
        """Let the next ones in, one of each client in turn."""
        while self._queues:
            client, queue = next(iter(self._queues.items()))
            if self.running and self.running + queue[0].size > self._at_once:
                break
            ticket = queue.popleft()
            # To the end of the line, or out of it.
            del self._queues[client]
            if queue:
                self._queues[client] = queue
            ticket.running = True
            self.running += ticket.size
            ticket.moved.set()
        for queue in self._queues.values():
            for ticket in queue:
                ticket.moved.set()

    def _before(self, ticket: Ticket) -> int:
        """How many go first, if nobody else comes or leaves."""
        mine = self._queues[ticket.client].index(ticket)
        before, earlier = mine, True
        for client, queue in self._queues.items():
            if client == ticket.client:
                earlier = False
                continue
            before += min(len(queue), mine + earlier)
        return before

    def _hint(self) -> int:
        """Seconds after which a place may be free; a guess."""
        return max(5, 2 * self.inside // self._at_once)
