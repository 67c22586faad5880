"""RemoteServer: one `vllm serve` over HTTP, and what is wrong with it."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import httpx
from prometheus_client import Metric

from backend.addresses import ServerAddress
from backend.engines.counters import read_counters, with_label
from backend.engines.serve_args import served_name
from backend.engines.server_faults import (
    ServerDownError,
    ServerError,
    connection_fault,
    said,
    said_reason,
)
from backend.errors import InputError
from backend.plan import Plan

log = logging.getLogger("bifocal")

CONNECT_S: Final = 5.0
KEEP_S: Final = 3.0
"""Seconds that an idle connection is used again; vLLM closes them after five."""
LOOK: Final = httpx.Timeout(10.0, connect=CONNECT_S)
"""Seconds within which a server answers that it is well; its HTTP side is apart from its engine,
so an engine that is busy does not make it slower."""

REFUSED: Final = (400, 413, 422)
"""Statuses of a request that is wrong."""


def make_client() -> httpx.AsyncClient:
    """A client for all servers of a role; it belongs to the event loop it is first used in.

    Certificates are checked against the system's, and those of SSL_CERT_FILE. Proxies are not
    used. There is no limit on reading: an answer takes as long as it takes, and a server that
    hangs is found out by looking at it.
    """
    return httpx.AsyncClient(
        verify=ssl.create_default_context(),
        trust_env=False,
        timeout=httpx.Timeout(None, connect=CONNECT_S),
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=32, keepalive_expiry=KEEP_S
        ),
    )


class RemoteServer:
    """One server. All methods belong to one event loop.

    Messages name it by its role and number, as visitors read them; its address is for `line`.
    """

    def __init__(
        self,
        address: ServerAddress,
        role: str,
        model: str,
        ctx_len: int,
        number: int = 1,
        total: int = 1,
    ) -> None:
        """The `number`-th of `total` servers of its role, `vision` or `language`, from 1.

        `model` is the name it must serve, `ctx_len` the least tokens of its context.
        """
        self.address, self._role, self._model, self._ctx_len = address, role, model, ctx_len
        self._number = number
        self.what = (
            f"The {role} server" if total == 1 else f"{role.title()} server {number} of {total}"
        )
        self.fault: ServerError | None = ServerError(f"{self.what} has not been asked yet.")
        """Why it is not asked; None while it is well."""
        self.requests = 0
        self._waiting: set[asyncio.Timeout] = set()

    @property
    def is_up(self) -> bool:
        """Whether it is asked."""
        return self.fault is None

    @property
    def trouble(self) -> str:
        """What is wrong with it, for everybody; empty while it is well."""
        return self.fault.message if self.fault else ""

    def line(self, fault: ServerError | None) -> str:
        """The same with its address and what was seen, for the log."""
        if fault is None:
            return f"{self.address.url}: {self.what} answers."
        return f"{self.address.url}: {fault.message}{f' ({fault.seen})' if fault.seen else ''}"

    async def look(self, client: httpx.AsyncClient, endpoint: str) -> None:
        """Find out whether it can be used: each time that it is alive, and when it is new or back
        also that it takes the key, serves the model and has the endpoint."""
        try:
            await self._get(client, "/health")
            if not self.is_up:
                await self._introduce(client, endpoint)
        except ServerError as error:
            self.take_out(error)
        else:
            self.fault = None

    def take_out(self, fault: ServerError) -> None:
        """Ask it no more until it is well again, and tell whoever waits for it."""
        self.mark_down(fault)
        # A limit is not rescheduled twice.
        waiting, self._waiting = self._waiting, set()
        for limit in waiting:
            limit.reschedule(asyncio.get_running_loop().time())

    def mark_down(self, fault: ServerError) -> None:
        """Ask it no more until it is well again; whoever waits for it may still be answered."""
        self.fault = fault

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Around every wait for an answer; ends when the server is taken out meanwhile.

        Raises ServerError for whatever goes wrong on the way.
        """
        limit = asyncio.timeout(None)
        try:
            async with limit:
                self._waiting.add(limit)
                try:
                    yield
                finally:
                    self._waiting.discard(limit)
        except TimeoutError:
            raise ServerDownError(self.trouble, self.fault.seen if self.fault else "") from None
        except httpx.HTTPError as error:
            raise connection_fault(self.what, error) from error

    def headers(self) -> dict[str, str]:
        """The key, where it has one."""
        return {"Authorization": f"Bearer {self.address.key}"} if self.address.key else {}

    def check(self, response: httpx.Response, body: bytes) -> None:
        """Raises what an answer that is not 200 means: InputError, ServerError, ServerDownError."""
        status = response.status_code
        if status == 200:
            return
        if status in REFUSED:
            reason = said_reason(body)
            if reason is None:
                log.warning("%s: refused a request (%d: %s)", self.address.url, status, said(body))
                reason = "its reason is in the log."
            raise InputError("bad_request", f"{self.what} refused the request: {reason}")
        if status == 401:
            key = f"--{self._role}-api-key"
            wrong = "the key is wrong" if self.address.key else "it asks for a key"
            raise ServerError(f"{self.what} lets nobody in without its key ({wrong}): set {key}.")
        if status in (403, 404):
            raise ServerError(
                f"{self.what} does not take such requests ({status}): start it with the line that "
                "`engine-args --topology remote` prints, with vLLM 0.32 or newer.",
                said(body),
            )
        if status in (502, 503, 504):
            raise ServerDownError(
                f"{self.what} is loading, or its engine has stopped working ({status}): wait until "
                "it is well, or start it again.",
                said(body),
            )
        raise ServerError(
            f"{self.what} could not process the request ({status}): ask once more; what it said is "
            "in the log.",
            said(body),
            may_pass=True,
        )

    async def metrics(self, client: httpx.AsyncClient) -> list[Metric]:
        """vLLM's own counters there, each sample with the server's number as `server`."""
        answer = await self._get(client, "/metrics")
        number = str(self._number)
        return [with_label(family, "server", number) for family in read_counters(answer.text)]

    async def _introduce(self, client: httpx.AsyncClient, endpoint: str) -> None:
        answer = await self._get(client, "/v1/models")
        try:
            models = {str(model["id"]): model for model in answer.json()["data"]}
        except (ValueError, KeyError, TypeError):
            raise self._stranger(answer) from None
        if self._model not in models:
            raise ServerError(
                f"{self.what} serves {' and '.join(sorted(models)) or 'nothing'}, not "
                f"{self._model}: start it with the line that `engine-args --topology remote` "
                "prints, or correct its address."
            )
        length = models[self._model].get("max_model_len") or self._ctx_len
        if length < self._ctx_len:
            raise ServerError(
                f"{self.what} has a context of {length} tokens, and Bifocal plans with "
                f"{self._ctx_len}: start either with the other's length (--ctx-len {length})."
            )
        async with self.waiting():
            refused = await client.post(
                self.address.url + endpoint, json={}, headers=self.headers(), timeout=LOOK
            )
        # An empty request is wrong, which only an endpoint that is there can say.
        with suppress(InputError):
            self.check(refused, refused.content)

    async def _get(self, client: httpx.AsyncClient, path: str) -> httpx.Response:
        async with self.waiting():
            answer = await client.get(
                self.address.url + path,
                headers=self.headers(),
                timeout=LOOK,
            )
        if answer.status_code in REFUSED:
            raise self._stranger(answer)
        self.check(answer, answer.content)
        return answer

    def _stranger(self, answer: httpx.Response) -> ServerError:
        """Whoever answers so is something else, such as a proxy that wants TLS."""
        return ServerError(
            f"{self.what} is no `vllm serve`: correct its address.", said(answer.content)
        )


def servers_of(plan: Plan, role: str) -> tuple[RemoteServer, ...]:
    """The servers of a role, `vision` or `language`, in the order of their addresses."""
    addresses = plan.vision_servers if role == "vision" else plan.language_servers
    model, total = served_name(plan, role), len(addresses)
    return tuple(
        RemoteServer(address, role, model, plan.ctx_len, number, total)
        for number, address in enumerate(addresses, 1)
    )
