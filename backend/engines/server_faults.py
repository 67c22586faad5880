"""ServerError: what is wrong with a server, as a sentence for everybody and words for the operator.

Visitors of a shared page read the sentence. What a server, a proxy before it or the connection says
may hold names of hosts inside a network, so it goes into the log and into `doctor` alone.
"""

from __future__ import annotations

import ssl
from typing import Any, Final

import httpx

from backend.errors import EngineError

LONGEST: Final = 300
"""Characters of a server's own words that are repeated."""


class ServerError(EngineError):
    """What is wrong with a server; `seen` is what it or the connection said, for the operator."""

    def __init__(self, message: str, seen: str = "", *, may_pass: bool = False) -> None:
        super().__init__(message, may_pass=may_pass)
        self.seen = seen


class ServerDownError(ServerError):
    """A server that cannot be reached, or went away; another one, or the same later, may answer."""

    def __init__(self, message: str, seen: str = "") -> None:
        super().__init__(message, seen, may_pass=True)


def connection_fault(what: str, error: httpx.HTTPError) -> ServerError:
    """What httpx met on the way to the server `what`; waiting does not mend a certificate."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ServerError(
                f"{what} shows a certificate that is not trusted: put its authority's into a file "
                "and name that with the variable SSL_CERT_FILE.",
                cause.verify_message,
            )
        if isinstance(cause, ssl.SSLError):
            return ServerError(
                f"{what} does not speak TLS: begin its address with http://, or start it with "
                "--ssl-certfile and --ssl-keyfile.",
                str(cause.reason),
            )
        cause = cause.__cause__ or cause.__context__
    seen = next(iter(str(error).splitlines()), "") or type(error).__name__
    if isinstance(error, httpx.ConnectError):
        return ServerDownError(
            f"{what} cannot be reached: wait until it has loaded, or correct its address.", seen
        )
    if isinstance(error, httpx.TimeoutException):
        return ServerDownError(
            f"{what} does not answer: wait until it does, or start it again.", seen
        )
    return ServerDownError(f"{what} went away: ask once more.", seen)


def said_reason(body: bytes) -> str | None:
    """vLLM's own reason for refusing a request; None in what is not vLLM's error object."""
    try:
        found: Any = httpx.Response(200, content=body).json()
        return _short(str(found["error"]["message"]))
    except (ValueError, KeyError, TypeError):
        return None


def said(body: bytes) -> str:
    """Whatever a server answered, short; for the operator."""
    return said_reason(body) or _short(body.decode("utf-8", "replace")) or "no reason given"


def _short(text: str) -> str:
    return " ".join(text.split())[:LONGEST]
