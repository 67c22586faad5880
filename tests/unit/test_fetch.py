"""URL to bytes, against a real server on the loopback: what comes back, and what is said if not."""

import dataclasses
import time
from collections.abc import Iterator
from urllib.parse import quote

import pytest

from backend.errors import InputError
from backend.intake.fetch import fetch, resolve
from backend.intake.limits import IntakeLimits

from .pictures import LIMITS
from .web import PICTURE, WebServer


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def limits(web: WebServer) -> IntakeLimits:
    return dataclasses.replace(LIMITS, allow_private=True, allow_ports=(web.port,))


def refusal(url: str, limits: IntakeLimits) -> InputError:
    with pytest.raises(InputError) as caught:
        fetch(url, limits)
    for leak in ("secret words", "0x", "Traceback", "urllib3", "HTTPConnection"):
        assert leak not in caught.value.message
    return caught.value


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


def test_credentials_and_proxies_of_the_environment_are_not_used(
    web: WebServer, limits: IntakeLimits, monkeypatch: pytest.MonkeyPatch, empty_folder: object
) -> None:
    """A proxy would connect to an address nobody checked; .netrc would send a password."""
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    netrc = f"{empty_folder}/netrc"
    with open(netrc, "w") as file:  # noqa: PTH123
        file.write("machine 127.0.0.1 login ann password geheim\n")
    monkeypatch.setenv("NETRC", netrc)
    assert fetch(web.url("cat.png"), limits) == PICTURE
    assert "Authorization" not in web.headers[-1]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "has no such file"),
        (403, "refuses access"),
        (401, "asks for a password"),
        (500, "answered with an error"),
        (503, "answered with an error"),
    ],
)
def test_an_error_of_the_server(
    web: WebServer, limits: IntakeLimits, status: int, words: str
) -> None:
    error = refusal(web.url(str(status)), limits)
    assert error.code == "url_failed"
    assert words in error.message
    assert f"HTTP {status}" in error.message


def test_text_is_fetched_and_refused_by_the_decoder(web: WebServer, limits: IntakeLimits) -> None:
    from backend.intake.decode import decode

    with pytest.raises(InputError) as caught:
        decode(fetch(web.url("text"), limits), "text", limits)
    assert caught.value.code == "image_unreadable"


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
    time.sleep(0.1)
    assert web.sent < 20_000_000


@pytest.mark.parametrize("path", ["slow-body", "slow-closing-body", "slow-headers", "silent"])
def test_the_deadline_is_for_the_whole_fetch(
    web: WebServer, limits: IntakeLimits, path: str
) -> None:
    """A byte now and then keeps every single read within its limit; it held a thread for hours."""
    started = time.perf_counter()
    error = refusal(web.url(path), dataclasses.replace(limits, fetch_timeout_s=0.5))
    assert time.perf_counter() - started < 4
    assert error.code == "url_failed"
    assert "0.5 seconds" in error.message


def test_the_deadline_spans_redirects(web: WebServer, limits: IntakeLimits) -> None:
    started = time.perf_counter()
    url = web.url("redirect?to=/slow-body")
    refusal(url, dataclasses.replace(limits, fetch_timeout_s=0.5))
    assert time.perf_counter() - started < 4


def test_a_body_cut_short_is_no_success(web: WebServer, limits: IntakeLimits) -> None:
    assert refusal(web.url("lie"), limits).code == "url_failed"


def test_nobody_listens(limits: IntakeLimits) -> None:
    error = refusal("http://127.0.0.1:9/cat.png", dataclasses.replace(limits, allow_ports=(9,)))
    assert error.code == "url_failed"
    assert "could not be reached" in error.message


def test_five_redirects_are_followed(web: WebServer, limits: IntakeLimits) -> None:
    assert fetch(web.url("hops?n=5"), limits) == PICTURE


@pytest.mark.parametrize("path", ["hops?n=6", "loop"])
def test_more_are_not(web: WebServer, limits: IntakeLimits, path: str) -> None:
    error = refusal(web.url(path), limits)
    assert error.code == "url_failed"
    assert "more than 5 times" in error.message


def test_a_redirect_without_an_address(web: WebServer, limits: IntakeLimits) -> None:
    error = refusal(web.url("moved-nowhere"), limits)
    assert error.code == "url_failed"


@pytest.mark.parametrize(
    "target",
    ["file:///etc/passwd", "ftp://example.com/x", "http://ann:geheim@example.com/", "gopher://x"],
)
def test_a_redirect_to_what_may_not_be_fetched(
    web: WebServer, limits: IntakeLimits, target: str
) -> None:
    error = refusal(web.url(f"redirect?to={quote(target)}"), limits)
    assert error.code == "url_refused"
    assert "geheim" not in error.message


@pytest.mark.parametrize("target", ["http://[::1", "http://[", "//[x]/"])
def test_a_redirect_to_no_address_at_all(web: WebServer, limits: IntakeLimits, target: str) -> None:
    """urljoin raises ValueError for these."""
    error = refusal(web.url(f"redirect?to={quote(target)}"), limits)
    assert error.code in ("url_failed", "url_refused")


def test_addresses_keep_the_systems_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """It puts last what this machine has no route to; sorted as text, IPv6 often came first."""
    found = ["93.184.216.34", "93.184.216.34", "2606:2800:220:1::1"]
    answer = [(2, 1, 6, "", (address, 80)) for address in found]
    monkeypatch.setattr("socket.getaddrinfo", lambda *args, **options: answer)
    assert resolve("example.com", 80) == ["93.184.216.34", "2606:2800:220:1::1"]
