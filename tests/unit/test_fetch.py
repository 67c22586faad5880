"""URL to bytes, against a real server on the loopback: what comes back, and what is said if not."""

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from backend.errors import InputError
from backend.intake.address import resolve
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits

from .pictures import LIMITS
from .web import PICTURE, WebServer, refusal


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def limits(web: WebServer) -> IntakeLimits:
    return replace(LIMITS, allow_private=True, allow_ports=(web.port,))


def test_a_picture(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(web.url("cat.png"), limits) == PICTURE


def test_spaces_around_the_address_do_not_matter(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(f"  {web.url('cat.png')}\n", limits) == PICTURE


def test_the_fragment_stays_here(web: WebServer, limits: IntakeLimits) -> None:
    fetch(web.url("cat.png?a=b#part"), limits)
    assert web.asked[-1][1] == "/cat.png?a=b"


def test_we_say_who_we_are_and_send_no_cookies(web: WebServer, limits: IntakeLimits) -> None:
    fetch(web.url("cat.png"), limits)
    sent = web.headers[-1]
    assert sent["User-Agent"].startswith("Bifocal/")
    assert not {"Cookie", "Authorization", "Referer"} & set(sent)


def test_netrc_is_not_used(
    web: WebServer, limits: IntakeLimits, monkeypatch: pytest.MonkeyPatch, empty_folder: Path
) -> None:
    """It would send a password."""
    (empty_folder / "netrc").write_text("machine 127.0.0.1 login ann password geheim\n")
    monkeypatch.setenv("NETRC", str(empty_folder / "netrc"))
    assert fetch(web.url("cat.png"), limits) == PICTURE
    assert "Authorization" not in web.headers[-1]


def test_a_cookie_does_not_outlive_its_answer(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(web.url("cookie"), limits) == PICTURE
    assert "Cookie" not in web.headers[-1]


def test_a_packed_answer_is_unpacked(web: WebServer, limits: IntakeLimits) -> None:
    """We ask for none, and some servers pack all the same."""
    assert fetch(web.url("packed"), limits) == PICTURE
    assert web.headers[-1]["Accept-Encoding"] == "identity"


def test_the_body_of_a_redirect_is_not_read(web: WebServer, limits: IntakeLimits) -> None:
    """A session of requests reads it to its end, whatever its size."""
    assert fetch(web.url("redirect-with-a-bomb"), limits) == PICTURE
    assert web.sent < 20_000_000


def test_a_name_that_is_looked_up_for_too_long(limits: IntakeLimits) -> None:
    """The system's resolver knows no limit of time that we could set."""
    never, started = threading.Event(), time.perf_counter()

    def stuck(host: str, port: int) -> list[str]:
        never.wait(20)
        return []

    with pytest.raises(InputError, match=r"within 0\.3 seconds") as caught:
        fetch("http://cats.test/", replace(limits, allow_ports=(80,), fetch_timeout_s=0.3), stuck)
    never.set()
    assert caught.value.code == "url_failed"
    assert time.perf_counter() - started < 4


@pytest.mark.parametrize("path", ["big", "big-without-length", "bomb"])
def test_too_large_is_noticed_while_it_comes(
    web: WebServer, limits: IntakeLimits, path: str
) -> None:
    """A declared length may be absent or a lie, and gzip may unpack to anything."""
    started = time.perf_counter()
    error = refusal(web.url(path), limits)
    assert error.code == "image_too_large"
    assert "1 MB" in error.message
    assert time.perf_counter() - started < 3


def test_what_is_too_large_is_not_read_to_its_end(web: WebServer, limits: IntakeLimits) -> None:
    web.sent = 0
    refusal(web.url("big-without-length"), limits)
    assert web.sent < 20_000_000


@pytest.mark.parametrize("path", ["slow-body", "slow-closing-body", "slow-headers", "silent"])
def test_the_deadline_is_for_the_whole_fetch(
    web: WebServer, limits: IntakeLimits, path: str
) -> None:
    """A byte now and then keeps every single read within its limit; it held a thread for hours."""
    started = time.perf_counter()
    error = refusal(web.url(path), replace(limits, fetch_timeout_s=0.5))
    assert time.perf_counter() - started < 4
    assert error.code == "url_failed"
    assert "0.5 seconds" in error.message


def test_the_deadline_spans_redirects(web: WebServer, limits: IntakeLimits) -> None:
    started = time.perf_counter()
    url = web.url("redirect?to=/slow-body")
    refusal(url, replace(limits, fetch_timeout_s=0.5))
    assert time.perf_counter() - started < 4


@pytest.mark.parametrize("path", ["/cat.png?a b", "/cat.png?\u00e4", "cat.png", "?x=/../cat.png"])
def test_a_redirect_is_read_as_browsers_read_it(
    web: WebServer, limits: IntakeLimits, path: str
) -> None:
    target = path if path[0] != "?" else f"/cat.png{path}"
    assert fetch(web.url(f"redirect?to={quote(target)}"), limits) == PICTURE


def test_an_address_of_any_script(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(web.url("cat.png?\u00e4=\u4e2d"), limits) == PICTURE
    assert web.asked[-1][1] == "/cat.png?%C3%A4=%E4%B8%AD"


def test_five_redirects_are_followed(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(web.url("hops?n=5"), limits) == PICTURE


def test_addresses_keep_the_systems_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts last what this machine has no route to; sorted as text, IPv6 often came first."""
    found = ["93.184.216.34", "93.184.216.34", "2606:2800:220:1::1"]
    answer = [(2, 1, 6, "", (address, 80)) for address in found]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **options: answer)
    assert resolve("example.com", 80) == ["93.184.216.34", "2606:2800:220:1::1"]
