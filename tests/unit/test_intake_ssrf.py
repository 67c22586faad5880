"""Requests forged through us: a server inside is never reached, however its address is dressed up.

Two servers run: `outside` counts as public, `inside` does not, and both would answer. Every
spelling is tried as the address itself and as the target of a redirect.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from backend.errors import InputError
from backend.intake import address as module
from backend.intake.address import resolve
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits
from backend.intake.networks import is_public

from .pictures import LIMITS
from .web import PICTURE, WebServer

OUTSIDE, INSIDE = "127.0.0.1", "127.0.0.2"

# Ways to write the server inside, and others that nobody outside can reach; `{port}` is its port.
SPELLINGS = (
    "http://127.0.0.2:{port}/cat.png",
    "HTTP://127.0.0.2:{port}/cat.png",
    "http://127.0.0.2.:{port}/cat.png",
    "http://127.2:{port}/cat.png",
    "http://127.0.2:{port}/cat.png",
    "http://2130706434:{port}/cat.png",
    "http://0x7f000002:{port}/cat.png",
    "http://0x7f.0.0.2:{port}/cat.png",
    "http://0x7f.0x0.0x0.0x2:{port}/cat.png",
    "http://0177.0.0.2:{port}/cat.png",
    "http://0177.0000.0000.0002:{port}/cat.png",
    "http://017700000002:{port}/cat.png",
    "http://\uff11\uff12\uff17.0.0.2:{port}/cat.png",
    "http://127\u30020\u30020\u30022:{port}/cat.png",
    "http://\u2460\u2461\u2466.0.0.\u2461:{port}/cat.png",
    "http://[::ffff:127.0.0.2]:{port}/cat.png",
    "http://[::ffff:7f00:2]:{port}/cat.png",
    "http://[0:0:0:0:0:ffff:7f00:0002]:{port}/cat.png",
    "http://[::127.0.0.2]:{port}/cat.png",
    "http://[64:ff9b::127.0.0.2]:{port}/cat.png",
    "http://[2002:7f00:2::1]:{port}/cat.png",
    "http://[2001:0:7f00:2::80ff:fffd]:{port}/cat.png",
    "http://inside.test:{port}/cat.png",
    "http://INSIDE.test:{port}/cat.png",
    "http://inside.test.:{port}/cat.png",
    "http://\u24d8nside.test:{port}/cat.png",
    "http://mixed.test:{port}/cat.png",
    "http://localhost:{port}/cat.png",
    "http://outside.test@127.0.0.2:{port}/cat.png",
    "http://outside.test:80@127.0.0.2:{port}/cat.png",
    "http://outside.test%40127.0.0.2:{port}/cat.png",
    "http://127.0.0.2:{port}\\@outside.test/cat.png",
    "http://outside.test\\@127.0.0.2:{port}/cat.png",
    "http://outside.test#@127.0.0.2:{port}/cat.png",
    "http://outside.test?@127.0.0.2:{port}/cat.png",
    "http://127.0.0.2:{port}#@outside.test/cat.png",
    "http://127.0.0.2:{port}?@outside.test/cat.png",
    "http://127.0.0.2:{port}/cat.png?outside.test",
    "http://127.0.0.2\t:{port}/cat.png",
    "http://127.0\n.0.2:{port}/cat.png",
    "http://127.0.0.2%00.outside.test:{port}/cat.png",
    "http://127.0.0.2%09:{port}/cat.png",
    "http://[::ffff:127.0.0.2%25lo]:{port}/cat.png",
    "http:\\\\127.0.0.2:{port}\\cat.png",
    "http:/127.0.0.2:{port}/cat.png",
    "http:127.0.0.2:{port}/cat.png",
    "https://127.0.0.2:{port}/cat.png",
    "ftp://127.0.0.2:{port}/cat.png",
    "gopher://127.0.0.2:{port}/_GET%20/cat.png",
    "dict://127.0.0.2:{port}/cat.png",
    "file://127.0.0.2:{port}/cat.png",
    "http://0:{port}/cat.png",
    "http://0.0.0.0:{port}/cat.png",
    "http://[::]:{port}/cat.png",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/latest/meta-data/",
    "http://[::ffff:a9fe:a9fe]/latest/meta-data/",
    "http://[fd00:ec2::254]/latest/meta-data/",
    "http://100.64.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
)


@pytest.fixture(scope="module")
def outside() -> Iterator[WebServer]:
    with WebServer(OUTSIDE) as server:
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def inside() -> Iterator[WebServer]:
    with WebServer(INSIDE) as server:
        yield server
        server.shutdown()


@pytest.fixture
def limits(outside: WebServer, inside: WebServer, monkeypatch: pytest.MonkeyPatch) -> IntakeLimits:
    """The ports of both are allowed, so that it is the address which is refused."""
    monkeypatch.setattr(module, "is_public", lambda ip: ip == OUTSIDE or is_public(ip))
    inside.asked.clear()
    return dataclasses.replace(LIMITS, allow_ports=(80, 443, outside.port, inside.port))


def names(host: str, port: int) -> list[str]:
    """The fake resolver; it takes addresses as the system does."""
    known = {
        "outside.test": [OUTSIDE],
        "inside.test": [INSIDE],
        "mixed.test": [OUTSIDE, INSIDE],
        "localhost": ["::1", INSIDE],
    }
    return known[host] if host in known else resolve(host, port)


def kept_out(url: str, limits: IntakeLimits, inside: WebServer) -> InputError:
    with pytest.raises(InputError) as caught:
        fetch(url, limits, names)
    assert inside.asked == []
    assert caught.value.code in ("url_refused", "url_failed")
    return caught.value


def test_the_server_inside_would_answer(inside: WebServer, limits: IntakeLimits) -> None:
    """Or all that follows would prove nothing."""
    allowed = dataclasses.replace(limits, allow_private=True)
    for spelling in SPELLINGS[:18]:
        assert fetch(spelling.format(port=inside.port), allowed, names) == PICTURE


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_an_address(spelling: str, limits: IntakeLimits, inside: WebServer) -> None:
    kept_out(spelling.format(port=inside.port), limits, inside)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("hops", [1, 3])
def test_a_redirect_to_it(
    spelling: str, hops: int, limits: IntakeLimits, outside: WebServer, inside: WebServer
) -> None:
    target = spelling.format(port=inside.port)
    for _ in range(hops):
        target = outside.url(f"redirect?to={quote(target)}", host="outside.test")
    error = kept_out(target, limits, inside)
    if INSIDE in error.message:
        pytest.fail(f"the message tells where it led: {error.message}")


@pytest.mark.parametrize("scheme", ["//", "http://", "HTTP://"])
def test_a_public_redirect_is_followed(
    scheme: str, limits: IntakeLimits, outside: WebServer
) -> None:
    target = f"{scheme}outside.test:{outside.port}/cat.png"
    url = outside.url(f"redirect?to={quote(target)}", host="outside.test")
    assert fetch(url, limits, names) == PICTURE


@pytest.mark.parametrize("host", ["outside.test", "OUTSIDE.test.", OUTSIDE, "127.1", "2130706433"])
def test_what_is_public_gets_through(host: str, limits: IntakeLimits, outside: WebServer) -> None:
    assert fetch(outside.url("cat.png", host=host), limits, names) == PICTURE


def test_a_name_that_changes_between_check_and_use(
    limits: IntakeLimits, outside: WebServer, inside: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both the resolver given and the system's answer the second time with the server inside."""
    answers = iter([[OUTSIDE]])
    monkeypatch.setattr("socket.getaddrinfo", _pointing_inside(inside))
    url = outside.url("cat.png", host="rebind.test")
    assert fetch(url, limits, lambda *_: next(answers, [INSIDE])) == PICTURE
    assert inside.asked == []


def test_a_name_that_changes_between_two_hops(
    limits: IntakeLimits, outside: WebServer, inside: WebServer
) -> None:
    answers = iter([[OUTSIDE], [OUTSIDE]])
    target = f"http://rebind.test:{inside.port}/cat.png"
    for _ in range(2):
        target = outside.url(f"redirect?to={quote(target)}", host="rebind.test")
    with pytest.raises(InputError, match="not public"):
        fetch(target, limits, lambda *_: next(answers, [INSIDE]))
    assert inside.asked == []


def _pointing_inside(inside: WebServer):  # type: ignore[no-untyped-def]
    """Stands for the system's resolver; addresses, which need no look-up, stay what they are."""

    def getaddrinfo(host: str, port: int, *args: object, **options: object) -> list[object]:
        to = (host, port) if host.replace(".", "").isdigit() else (INSIDE, inside.port)
        return [(2, 1, 6, "", to)]

    return getaddrinfo
