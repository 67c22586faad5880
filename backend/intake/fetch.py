"""URL to bytes; the only user of `requests`.

A URL comes from a stranger, so the fetch must not reach anything the stranger could not: only http
and https, only allowed ports, every address a name resolves to must be public, at every redirect,
and the connection goes to the very address that was checked. `requests` sessions are not used: they
add cookies, `.netrc` and proxies, and read a redirect's body to its end whatever its size.

A proxy looks names up itself, so the addresses behind it cannot be checked here. Those of the
environment are therefore used only where `allow-private-urls` has lifted that check anyway.
"""

from __future__ import annotations

import importlib.metadata
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urljoin

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies, select_proxy
from urllib3.util import parse_url

from backend.errors import InputError
from backend.intake.address import Address, Resolver, parse_address, public_ip, resolve
from backend.intake.deadline import Deadline
from backend.intake.decode import too_many_bytes
from backend.intake.limits import IntakeLimits

MAX_REDIRECTS = 5
REDIRECTS = (301, 302, 303, 307, 308)
CHUNK = 64 * 1024
STATUSES = {
    401: "asks for a password",
    403: "refuses access",
    404: "has no such file",
    410: "has no such file any more",
    429: "has had too many requests: try again later",
}


class PinnedAdapter(HTTPAdapter):
    """Connects to one checked IP address while TLS and the Host header keep the URL's name.

    Without an IP address it connects where the URL or the proxy says.
    """

    def __init__(self, ip: str | None, host: str) -> None:
        self._ip, self._host = ip, host
        self._connections: list[Any] = []
        super().__init__(max_retries=0)

    def get_connection_with_tls_context(self, *args: Any, **options: Any) -> Any:
        pool: Any = super().get_connection_with_tls_context(*args, **options)
        connect = pool.ConnectionCls

        def remembered(**settings: Any) -> Any:
            self._connections.append(connect(**settings))
            return self._connections[-1]

        pool.ConnectionCls = remembered
        return pool

    def abort(self) -> None:
        """End a connection whose answer has not begun; from any thread."""
        for connection in self._connections:
            if connection.sock is not None:
                socket.socket.shutdown(connection.sock, socket.SHUT_RDWR)

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> Any:
        host: Any
        pool: Any
        host, pool = super().build_connection_pool_key_attributes(request, verify, cert)
        if self._ip is not None:
            host["host"] = self._ip
            if host["scheme"] == "https":
                pool["server_hostname"] = pool["assert_hostname"] = self._host
        return host, pool


def fetch(url: str, limits: IntakeLimits, resolver: Resolver = resolve) -> bytes:
    """The body behind an http(s) URL.

    Raises InputError: `url_refused` for a URL that may not be fetched, `url_failed` where nothing
    useful came back in time, `image_too_large` for a body over the limit. Messages name the host
    that was asked for, never one it redirects to.
    """
    deadline = Deadline(limits.fetch_timeout_s)
    first = address = parse_address(url, limits)
    for _ in range(MAX_REDIRECTS + 1):
        who = first.host if address is first else f"{first.host}, after a redirect,"
        ip, proxies = _way(address, first, limits, resolver, deadline)
        try:
            with _answer(address, ip, proxies, deadline) as response:
                location = _location(response)
                if response.status_code not in REDIRECTS or not location:
                    return _body(response, who, limits, deadline)
        except (requests.RequestException, OSError, ValueError) as fault:
            deadline.left()
            raise InputError("url_failed", _reason(fault, who)) from None
        address = _next(address, first, location, limits)
    raise InputError("url_failed", f"The address redirects more than {MAX_REDIRECTS} times.")


def _next(address: Address, first: Address, location: str, limits: IntakeLimits) -> Address:
    """Where a redirect leads."""
    try:
        return parse_address(urljoin(address.url, location), limits)
    except (InputError, ValueError):
        raise InputError(
            "url_refused", f"{first.host} redirects to an address that may not be fetched."
        ) from None


def _way(
    address: Address, first: Address, limits: IntakeLimits, resolver: Resolver, deadline: Deadline
) -> tuple[str | None, dict[str, str]]:
    """The IP address to connect to, or else the proxies that find it."""
    if limits.allow_private:
        proxies = get_environ_proxies(address.url)
        if select_proxy(address.url, proxies):
            return None, proxies
    try:
        return public_ip(address, limits, resolver, deadline), {}
    except InputError as error:
        if address is first:
            raise
        private = error.code == "url_refused"
        leads = "an address that is not public" if private else "an address that cannot be found"
        raise InputError(error.code, f"{first.host} redirects to {leads}.") from None


@contextmanager
def _answer(
    address: Address, ip: str | None, proxies: dict[str, str], deadline: Deadline
) -> Iterator[requests.Response]:
    """The answer to one request, its body not yet read, nothing followed."""
    request = requests.Request("GET", address.url, headers=_headers(address)).prepare()
    _refuse_other_reading(address, str(request.url))
    adapter = PinnedAdapter(ip, address.host)
    try:
        with deadline.ending(adapter.abort):
            response = adapter.send(
                request, stream=True, timeout=deadline.left(), verify=True, proxies=proxies
            )
        with response, deadline.ending(response.raw.shutdown):
            yield response
    finally:
        adapter.close()


def _refuse_other_reading(address: Address, sent: str) -> None:
    """What was checked and what is sent must name the same place, to urllib3 as well."""
    parsed = parse_url(sent)
    host = (parsed.host or "").strip("[]")
    port = parsed.port or (443 if parsed.scheme == "https" else 80)
    due = (address.scheme, address.host, address.port, None)
    if (parsed.scheme, host, port, parsed.auth) != due:
        raise InputError("url_refused", "This is not a valid address.")


def _location(response: requests.Response) -> str:
    """Where a redirect leads, read as browsers read it; empty where it does not say."""
    location = response.headers.get("location") or ""
    return location.encode("latin-1", "replace").decode("utf-8", "replace").replace(" ", "%20")


def _body(response: requests.Response, who: str, limits: IntakeLimits, deadline: Deadline) -> bytes:
    status = response.status_code
    if status != 200:
        said = STATUSES.get(status, "answered with an error")
        raise InputError("url_failed", f"{who} {said} (HTTP {status}).")
    if int(response.headers.get("content-length") or 0) > limits.max_bytes:
        raise too_many_bytes("The image behind this address", limits)
    body = bytearray()
    for chunk in response.iter_content(CHUNK):
        body += chunk
        if len(body) > limits.max_bytes:
            raise too_many_bytes("The image behind this address", limits)
        deadline.left()
    deadline.left()
    return bytes(body)


def _headers(address: Address) -> dict[str, str]:
    return {
        "User-Agent": f"Bifocal/{importlib.metadata.version('bifocal')}",
        "Accept": "image/*",
        "Accept-Encoding": "identity",
        "Host": address.netloc,
    }


def _reason(fault: BaseException, who: str) -> str:
    """What went wrong on the way, for a person; nothing of what the other side sent."""
    causes = list(_causes(fault))
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        return f"{who} has a certificate that cannot be trusted: use another address."
    if any(isinstance(cause, ssl.SSLError | requests.exceptions.SSLError) for cause in causes):
        return f"No secure connection to {who} could be made: use another address."
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return f"{who} refused the connection: check the address."
    if isinstance(fault, requests.exceptions.ChunkedEncodingError):
        return f"{who} broke off before the image was complete: try again."
    if isinstance(fault, requests.exceptions.ContentDecodingError):
        return f"{who} sent what cannot be unpacked: use another address."
    return f"{who} could not be reached: check the address."


def _causes(fault: BaseException) -> Iterator[BaseException]:
    """A fault and all that it came from; urllib3 keeps some in `reason` and in the arguments."""
    seen: list[BaseException] = []
    pending: list[Any] = [fault]
    while pending:
        cause = pending.pop()
        if isinstance(cause, BaseException) and cause not in seen:
            seen.append(cause)
            pending += [cause.__cause__, cause.__context__, getattr(cause, "reason", None)]
            pending += cause.args
    yield from seen
