"""RemoteServer: one `vllm serve` over HTTP, and what is wrong with it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import httpx
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from backend.addresses import ServerAddress
from backend.errors import EngineError, InputError

CONNECT_S: Final = 5.0
KEEP_S: Final = 3.0
"""Seconds that an idle connection is used again; vLLM closes them after five."""
LOOK: Final = httpx.Timeout(10.0, connect=CONNECT_S)
"""Seconds within which a server answers that it is well; its HTTP side is apart from its engine,
so an engine that is busy does not make it slower."""
LONGEST: Final = 300
"""Characters of a server's own words that a message repeats."""


class ServerDownError(EngineError):
    """A server that cannot be reached, or went away; another one, or the same later, may answer."""

    def __init__(self, message: str) -> None:
        super().__init__(message, may_pass=True)


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
    """One server. All methods belong to one event loop."""

    def __init__(self, address: ServerAddress, role: str, model: str, ctx_len: int) -> None:
        """`model` is the name it must serve, `ctx_len` the least tokens of its context."""
        self.address, self._role, self._model, self._ctx_len = address, role, model, ctx_len
        self.what = f"The {role} at {address.url}"
        self.trouble = f"{self.what} has not been asked yet."
        self.is_up = self.may_pass = False
        self.requests = 0
        self._waiting: set[asyncio.Timeout] = set()

    async def look(self, client: httpx.AsyncClient, endpoint: str) -> None:
        """Find out whether it can be used: each time that it is alive, and when it is new or back
        also that it takes the key, serves the model and has the endpoint."""
        try:
            await self._get(client, "/health")
            if not self.is_up:
                await self._introduce(client, endpoint)
        except EngineError as error:
            self.take_out(error.message, error.may_pass)
        else:
            self.is_up, self.trouble = True, ""

    def take_out(self, trouble: str, may_pass: bool = True) -> None:
        """Ask it no more until it is well again, and tell whoever waits for it."""
        self.mark_down(trouble, may_pass)
        # A limit is not rescheduled twice.
        waiting, self._waiting = self._waiting, set()
        for limit in waiting:
            limit.reschedule(asyncio.get_running_loop().time())

    def mark_down(self, trouble: str, may_pass: bool = True) -> None:
        """Ask it no more until it is well again; whoever waits for it may still be answered."""
        self.is_up, self.trouble, self.may_pass = False, trouble, may_pass

    @asynccontextmanager
    async def waiting(self) -> AsyncIterator[None]:
        """Around every wait for an answer; ends when the server is taken out meanwhile.

        Raises ServerDownError for whatever goes wrong on the way.
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
            raise ServerDownError(self.trouble) from None
        except httpx.HTTPError as error:
            raise self._explain(error) from error

    def headers(self) -> dict[str, str]:
        """The key, where it has one."""
        return {"Authorization": f"Bearer {self.address.key}"} if self.address.key else {}

    def check(self, response: httpx.Response, body: bytes) -> None:
        """Raises what an answer that is not 200 means: InputError, EngineError, ServerDownError."""
        status, said = response.status_code, _words(body)
        if status == 200:
            return
        if status in (400, 413, 422):
            raise InputError("bad_request", f"{self.what} refused the request: {said}")
        if status == 401:
            key = f"--{_flag(self._role)}-api-key"
            wrong = "the key is wrong" if self.address.key else "it asks for a key"
            raise EngineError(f"{self.what} lets nobody in without its key ({wrong}): set {key}.")
        if status in (403, 404):
            raise EngineError(
                f"{self.what} does not take such requests ({status}: {said}). Start it with the "
                "line that `engine-args --topology remote` prints, with vLLM 0.32 or newer."
            )
        if status in (502, 503, 504):
            raise ServerDownError(
                f"{self.what} is loading, or its engine has stopped working ({status}: {said})."
            )
        raise EngineError(
            f"{self.what} could not process the request ({status}: {said}).", may_pass=True
        )

    async def metrics(self, client: httpx.AsyncClient) -> list[Metric]:
        """vLLM's own counters there, each sample with the server's address."""
        answer = await self._get(client, "/metrics")
        return [_labelled(family, self.address.url) for family in _families(answer.text)]

    async def _introduce(self, client: httpx.AsyncClient, endpoint: str) -> None:
        answer = await self._get(client, "/v1/models")
        try:
            models = {str(model["id"]): model for model in answer.json()["data"]}
        except (ValueError, KeyError, TypeError):
            raise EngineError(
                f"{self.what} is no `vllm serve` ({_words(answer.content)}): correct the address."
            ) from None
        if self._model not in models:
            raise EngineError(
                f"{self.what} serves {' and '.join(sorted(models)) or 'nothing'}, not "
                f"{self._model}: start it with the line that `engine-args --topology remote` "
                "prints, or correct the address."
            )
        length = models[self._model].get("max_model_len") or self._ctx_len
        if length < self._ctx_len:
            raise EngineError(
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
        self.check(answer, answer.content)
        return answer

    def _explain(self, error: httpx.HTTPError) -> EngineError:
        """What httpx met, as a sentence; a certificate that does not hold will not by waiting."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return EngineError(
                    f"{self.what} shows a certificate that is not trusted "
                    f"({cause.verify_message}): put its authority's into a file and name that with "
                    "the variable SSL_CERT_FILE."
                )
            if isinstance(cause, ssl.SSLError):
                return EngineError(
                    f"{self.what} does not speak TLS ({cause.reason}): begin its address with "
                    "http://, or start it with --ssl-certfile and --ssl-keyfile."
                )
            cause = cause.__cause__ or cause.__context__
        if isinstance(error, httpx.ConnectError):
            return ServerDownError(
                f"{self.what} cannot be reached ({_first_line(error)}): it may still be loading, "
                "or the address is wrong."
            )
        if isinstance(error, httpx.TimeoutException):
            return ServerDownError(f"{self.what} does not answer.")
        return ServerDownError(f"{self.what} went away ({_first_line(error)}): ask once more.")


def _words(body: bytes) -> str:
    """A server's own words about an error, short."""
    text = body.decode("utf-8", "replace")
    try:
        found: Any = httpx.Response(200, content=body).json()
        error = found.get("error", found)
        text = error.get("message", text) if isinstance(error, dict) else str(error)
    except (ValueError, AttributeError):
        # No JSON object, such as a proxy's page.
        pass
    return " ".join(str(text).split())[:LONGEST] or "no reason given"


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _flag(role: str) -> str:
    return role.split()[0]


def _families(text: str) -> Iterable[Metric]:
    families: Iterable[Metric] = text_string_to_metric_families(text)
    return [family for family in families if family.name.startswith("vllm")]


def _labelled(family: Metric, url: str) -> Metric:
    labelled = Metric(family.name, family.documentation, family.type, family.unit)
    for sample in family.samples:
        labelled.samples.append(sample._replace(labels={**sample.labels, "server": url}))
    return labelled
