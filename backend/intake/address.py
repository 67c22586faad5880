"""Address: a URL in the one spelling in which it is checked, looked up and sent."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit

from backend.errors import InputError
from backend.intake.deadline import Deadline
from backend.intake.limits import IntakeLimits
from backend.intake.networks import is_public

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_LENGTH = 8000
HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")

Resolver = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class Address:
    """`host` is lower-case ASCII without brackets; `url` is rebuilt from the parts, no fragment."""

    url: str
    scheme: str
    host: str
    port: int
    netloc: str


def resolve(host: str, port: int) -> list[str]:
    """Every address of a name, as text, best first; raises OSError where there is none.

    The system's order puts addresses last that this machine has no route to.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(info[4][0]) for info in found))


SHOWN = 60
"""Characters of an address that a message repeats."""


def parse_address(url: str, limits: IntakeLimits) -> Address:
    """Raises InputError: `url_refused` for what may not be fetched, wherever it leads."""
    url = url.strip()
    if len(url) > MAX_LENGTH:
        raise _refused(f"The address is longer than {MAX_LENGTH} characters.")
    if any(c in "\\ " or not c.isprintable() for c in url):
        # Parsers disagree on what these mean, and some drop them without a word.
        raise _refused("The address has a space, a backslash or a control character in it.")
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _refused("This is not a valid address.") from None
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname:
        shown = url if len(url) <= SHOWN else f"{url[:SHOWN]}…"
        raise _refused(
            f"“{shown}” is not the address of a picture: it must begin with http://, https:// or "
            "data:."
        )
    if parts.username is not None or parts.password is not None:
        raise _refused("Addresses with a user name or password are not fetched.")
    port = _port(parts, limits)
    if "[" in parts.netloc and ":" not in parts.hostname:
        return _no_host()
    return _rebuilt(parts, _host(parts.hostname), port)


def public_ip(address: Address, limits: IntakeLimits, resolver: Resolver, by: Deadline) -> str:
    """The one IP address to connect to.

    Raises InputError: `url_failed` where the name has none or is not looked up in time,
    `url_refused` where any is not public.
    """
    try:
        found = by.run(lambda: resolver(address.host, address.port))
    except (OSError, UnicodeError):
        found = []
    if not found:
        raise InputError("url_failed", f"{address.host} could not be found: check the address.")
    if not limits.allow_private and not all(map(is_public, found)):
        raise _refused(f"{address.host} is a private address; only public ones are fetched.")
    return found[0]


def _port(parts: SplitResult, limits: IntakeLimits) -> int:
    """The port of a fetched scheme, one of those allowed."""
    allowed = ", ".join(map(str, limits.allow_ports))
    try:
        port = parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise _refused(
            f"The port of this address is not a number from 1 to 65535; allowed are {allowed}."
        )
    # RFC 3986: an empty port, as in `host:`, is the scheme's own.
    port = port or DEFAULT_PORTS[parts.scheme]
    if port not in limits.allow_ports:
        raise _refused(
            f"Port {port} is not allowed, only {allowed}: use an address with one of these, or ask"
            " whoever runs the app for --allow-ports."
        )
    return port


def _host(name: str) -> str:
    """A host as it travels: one spelling for the look-up, for TLS and for the Host header."""
    if ":" in name:
        try:
            return str(ipaddress.IPv6Address(name)) if "%" not in name else _no_host()
        except ValueError:
            return _no_host()
    try:
        host = name.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise InputError("url_failed", "There is no such name: check the address.") from None
    return host if HOST.fullmatch(host) else _no_host()


def _no_host() -> NoReturn:
    raise _refused("This is not a valid address.")


def _rebuilt(parts: SplitResult, host: str, port: int) -> Address:
    netloc = f"[{host}]" if ":" in host else host
    if port != DEFAULT_PORTS[parts.scheme]:
        netloc += f":{port}"
    url = parts._replace(netloc=netloc, fragment="").geturl()
    return Address(url, parts.scheme, host, port, netloc)


def _refused(message: str) -> InputError:
    return InputError("url_refused", message)
