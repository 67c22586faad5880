"""Fleet: the servers of one role, the least busy one first; those that are down are left out."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager, suppress
from typing import Final, TypeVar

import httpx
from prometheus_client import Metric

from backend.engines.remote_server import RemoteServer, make_client
from backend.engines.server_faults import ServerDownError, ServerError
from backend.errors import EngineError

log = logging.getLogger("bifocal")

METRICS_EVERY: Final = 5
"""Looks between two times that the servers are asked for their counters."""
CLOSE_S: Final = 5.0

Answer = TypeVar("Answer")


class Fleet:
    """All methods but `unfinished`, `trouble`, `metrics`, `drop` and `close` belong to the event
    loop that asks first; `greet` brings one of its own."""

    def __init__(self, name: str, servers: Sequence[RemoteServer], endpoint: str) -> None:
        """`endpoint` is the path that requests go to."""
        self._name, self._servers, self._endpoint = name, tuple(servers), endpoint
        self._client: httpx.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._families: dict[RemoteServer, list[Metric]] = {}
        self._logged: dict[RemoteServer, str] = {}
        self._looks = self._turn = 0

    @property
    def client(self) -> httpx.AsyncClient:
        """Made where it is used."""
        if self._client is None:
            self._loop = asyncio.get_running_loop()
            self._client = make_client()
        return self._client

    @property
    def unfinished(self) -> int:
        """Requests of ours that are at a server."""
        return sum(server.requests for server in self._servers)

    @property
    def trouble(self) -> str:
        """What a person should know while some servers answer and others do not."""
        down = [server for server in self._servers if not server.is_up]
        if not down or len(self._servers) == 1:
            return ""
        up = len(self._servers) - len(down)
        told = " ".join(server.trouble for server in down)
        return f"{up} of {len(self._servers)} servers answer. {told}"

    def greet(self) -> None:
        """Look at all servers for the first time. Blocking, outside of any event loop.

        Raises EngineError where none can be used; `may_pass` where that may change by itself.
        """

        async def look() -> None:
            async with make_client() as client:
                await self._look(client)

        asyncio.run(look())

    async def look(self) -> None:
        """Look at all servers. Raises EngineError where none can be used."""
        await self._look(self.client)
        if self._looks % METRICS_EVERY == 0:
            await asyncio.gather(*map(self._count, self._servers))
        self._looks += 1

    async def send(self, ask: Callable[[RemoteServer], Awaitable[Answer]]) -> Answer:
        """Ask one server, and another where it is down. Raises EngineError, InputError."""
        tried: set[RemoteServer] = set()
        while True:
            server = self._next(tried)
            with self._busy(server, tried):
                return await ask(server)

    async def stream(
        self, ask: Callable[[RemoteServer], AsyncGenerator[Answer, None]]
    ) -> AsyncGenerator[Answer, None]:
        """The same for an answer in pieces; once the first piece is there nobody else is asked."""
        tried: set[RemoteServer] = set()
        begun = False
        while True:
            server = self._next(tried)
            with self._busy(server, tried):
                try:
                    async with aclosing(ask(server)) as pieces:
                        async for piece in pieces:
                            begun = True
                            yield piece
                    return
                except ServerDownError as error:
                    if begun:
                        self._mark_down(server, error)
                        raise EngineError(
                            f"{server.what} went away in the middle of the answer: ask once more. "
                            f"({error.message})",
                            may_pass=True,
                        ) from error
                    raise

    def metrics(self) -> Iterable[Metric]:
        """The servers' counters as they were a few seconds ago."""
        for families in list(self._families.values()):
            yield from families

    def drop(self) -> None:
        """Tell whoever waits for a server that there is none; from any thread."""
        self._in_loop(self._take_all_out)

    def close(self) -> None:
        """End all connections. Blocking, from any thread but the loop's."""
        client, loop, self._client = self._client, self._loop, None
        if client and loop and loop.is_running():
            with suppress(TimeoutError):
                asyncio.run_coroutine_threadsafe(client.aclose(), loop).result(CLOSE_S)

    async def _look(self, client: httpx.AsyncClient) -> None:
        await asyncio.gather(*(server.look(client, self._endpoint) for server in self._servers))
        for server in self._servers:
            self._log_change(server)
        faults = [server.fault for server in self._servers if server.fault]
        if len(faults) == len(self._servers):
            told = " ".join(fault.message for fault in faults)
            raise EngineError(told, may_pass=any(fault.may_pass for fault in faults))

    async def _count(self, server: RemoteServer) -> None:
        if not server.is_up:
            self._families.pop(server, None)
            return
        try:
            self._families[server] = await server.metrics(self.client)
        except (EngineError, ValueError) as error:
            # Counters are no reason to do without the server.
            log.debug("no counters of %s: %s", server.address.url, error)

    def _next(self, tried: set[RemoteServer]) -> RemoteServer:
        free = [server for server in self._servers if server.is_up and server not in tried]
        if not free:
            told = " ".join(server.trouble for server in self._servers if server.trouble)
            raise EngineError(told or f"No {self._name} answers: ask once more.", may_pass=True)
        self._turn += 1
        least = min(server.requests for server in free)
        idle = [server for server in free if server.requests == least]
        return idle[self._turn % len(idle)]

    @contextmanager
    def _busy(self, server: RemoteServer, tried: set[RemoteServer]) -> Iterator[None]:
        """Counts a request; a server that is down is taken out, so that the next one is asked.

        What a server said of a request that failed is in the log alone.
        """
        server.requests += 1
        try:
            yield
        except ServerDownError as error:
            self._mark_down(server, error)
            tried.add(server)
        except ServerError as error:
            log.warning("%s", server.line(error))
            raise
        finally:
            server.requests -= 1

    def _mark_down(self, server: RemoteServer, error: ServerError) -> None:
        server.mark_down(error)
        self._log_change(server)

    def _log_change(self, server: RemoteServer) -> None:
        """Where a server is and how it is, once for every change."""
        if self._logged.get(server) != server.trouble:
            self._logged[server] = server.trouble
            log.info("%s", server.line(server.fault))

    def _take_all_out(self) -> None:
        for server in self._servers:
            server.take_out(server.fault or ServerDownError(f"{server.what} was given up."))

    def _in_loop(self, call: Callable[[], None]) -> None:
        if self._loop and self._loop.is_running():
            self._loop.call_soon_threadsafe(call)
