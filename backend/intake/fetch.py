"""URL to bytes; the only user of `requests`.

A URL comes from a stranger, so the fetch must not reach anything the stranger could not: only http
and https, only allowed ports, every address a name resolves to must be public, at every redirect,
and the connection goes to the very address that was checked. Proxies and credentials from the
environment are not used, because a proxy would connect to an address nobody checked.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

import requests
from requests.adapters import HTTPAdapter

from backend.errors import InputError
from backend.intake.decode import too_many_bytes
from backend.intake.limits import IntakeLimits

MAX_REDIRECTS = 5
USER_AGENT = "Bifocal/0.1 (image fetch for a vision-language demo)"
DEFAULT_PORTS = {"http": 80, "https": 443}
CHUNK = 64 * 1024
NOT_PUBLIC = (
    ipaddress.ip_network("192.0.0.0/24"),  # protocol assignments; Oracle's metadata service
    ipaddress.ip_network("168.63.129.16/32"),  # Azure's host, reachable from inside only
)
"""IPv4 networks that Python 3.11 calls global."""

Resolver = Callable[[str, int], list[str]]


def resolve(host: str, port: int) -> list[str]:
    """Every address of a name, as text, best first; raises OSError where there is none.

    The system's order puts addresses last that this machine has no route to.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


class PinnedAdapter(HTTPAdapter):
    """Connects to one checked address while TLS and the Host header keep the URL's name."""

    def __init__(self, address: str, host: str) -> None:
        self._address, self._host = address, host
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
        host["host"] = self._address
        if host["scheme"] == "https":
            pool["server_hostname"] = pool["assert_hostname"] = self._host
        return host, pool


def fetch(url: str, limits: IntakeLimits, resolver: Resolver = resolve) -> bytes:
    """The body behind an http(s) URL.

    Raises InputError: `url_refused` for a URL that may not be fetched, `url_failed` where nothing
    useful came back in time, `image_too_large` for a body over the limit.
    """
    deadline = time.monotonic() + limits.fetch_timeout_s
    for _ in range(MAX_REDIRECTS + 1):
        parts, address = check(url, limits, resolver)
        with requests.Session() as session:
            session.trust_env = False
            adapter = PinnedAdapter(address, str(parts.hostname))
            session.mount(f"{parts.scheme}://", adapter)
            try:
                with (
                    _at(deadline, adapter.abort),
                    session.get(
                        urlunsplit(parts),
                        stream=True,
                        allow_redirects=False,
                        timeout=_left(deadline, limits),
                        headers=_headers(parts),
                    ) as response,
                ):
                    if response.is_redirect:
                        url = urljoin(url, response.headers["location"])
                        continue
                    with _at(deadline, response.raw.shutdown):
                        return _body(response, limits, deadline)
            except requests.Timeout:
                raise _too_slow(limits) from None
            except (requests.RequestException, ValueError):
                _left(deadline, limits)
                raise InputError(
                    "url_failed", f"{parts.hostname} could not be reached: check the address."
                ) from None
    raise InputError("url_failed", f"The address redirects more than {MAX_REDIRECTS} times.")


def check(url: str, limits: IntakeLimits, resolver: Resolver) -> tuple[SplitResult, str]:
    """The URL's parts and the one address to connect to; InputError where it may not be fetched."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
    except ValueError:
        raise InputError("url_refused", "This is not a valid address.") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        raise InputError("url_refused", "Only http:// and https:// addresses can be fetched.")
    if any(character in url.strip() for character in "\\ \t\r\n"):
        raise InputError("url_refused", "The address has a space or a backslash in it.")
    if parts.username is not None or parts.password is not None:
        raise InputError("url_refused", "Addresses with a user name or password are not fetched.")
    if port not in limits.allow_ports:
        allowed = ", ".join(map(str, limits.allow_ports))
        raise InputError("url_refused", f"Port {port} is not allowed, only {allowed}.")
    try:
        # The name as it travels: one spelling for the look-up, for TLS and for the Host header.
        host = parts.hostname.encode("idna").decode("ascii")
        addresses = resolver(host, port)
    except (OSError, UnicodeError):
        addresses = []
    if not addresses:
        raise InputError("url_failed", f"{parts.hostname} could not be found: check the address.")
    if not limits.allow_private and not all(map(is_public, addresses)):
        raise InputError(
            "url_refused", f"{parts.hostname} is a private address; only public ones are fetched."
        )
    netloc = f"[{host}]" if ":" in host else host
    netloc += f":{parts.port}" if parts.port else ""
    return parts._replace(netloc=netloc, fragment=""), addresses[0]


def is_public(address: str) -> bool:
    """Whether an address is globally reachable, also when it wraps an IPv4 address."""
    parsed = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo and parsed.teredo[1])
        if inner:
            return is_public(str(inner))
        if parsed in ipaddress.ip_network("64:ff9b::/96"):
            return is_public(str(ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)))
        if parsed.is_site_local:
            return False
    if any(parsed in network for network in NOT_PUBLIC):
        return False
    return parsed.is_global and not parsed.is_multicast and not parsed.is_reserved


def _body(response: requests.Response, limits: IntakeLimits, deadline: float) -> bytes:
    host = urlsplit(response.url).hostname
    if response.status_code != 200:
        reason = {401: "asks for a password", 403: "refuses access", 404: "has no such file"}
        said = reason.get(response.status_code, "answered with an error")
        raise InputError("url_failed", f"{host} {said} (HTTP {response.status_code}).")
    body = bytearray()
    for chunk in response.iter_content(CHUNK):
        body += chunk
        if len(body) > limits.max_bytes:
            raise too_many_bytes("The image behind this address", limits)
        _left(deadline, limits)
    _left(deadline, limits)
    return bytes(body)


def _headers(parts: SplitResult) -> dict[str, str]:
    return {"User-Agent": USER_AGENT, "Accept": "image/*", "Host": parts.netloc}


@contextmanager
def _at(deadline: float, end: Callable[[], None]) -> Iterator[None]:
    """Calls `end` when the deadline passes inside.

    `requests` knows only a limit for each read, which a server that sends one byte now and then
    never exceeds.
    """

    def ended() -> None:
        # The other side, or the other timer, may have closed it meanwhile.
        with suppress(OSError, RuntimeError, ValueError):
            end()

    timer = threading.Timer(max(0.0, deadline - time.monotonic()), ended)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _left(deadline: float, limits: IntakeLimits) -> float:
    """Seconds until the deadline; raises InputError when it has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_slow(limits)
    return left


def _too_slow(limits: IntakeLimits) -> InputError:
    return InputError(
        "url_failed", f"The image did not arrive within {limits.fetch_timeout_s:g} seconds."
    )
