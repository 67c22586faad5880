"""URL to bytes: what is said when nothing useful comes back, each cause in its own words."""

import ssl
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

import pytest
import requests
import urllib3

from backend.errors import InputError
from backend.intake import fetch as module
from backend.intake.decode import decode
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits

from .pictures import LIMITS
from .web import WebServer, refusal


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def limits(web: WebServer) -> IntakeLimits:
    return replace(LIMITS, allow_private=True, allow_ports=(web.port,))


def test_an_answer_that_is_packed_badly(web: WebServer, limits: IntakeLimits) -> None:
    assert "cannot be unpacked" in refusal(web.url("packed-badly"), limits).message


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (404, "has no such file"),
        (403, "refuses access"),
        (401, "asks for a password"),
        (410, "has no such file any more"),
        (429, "too many requests"),
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


@pytest.mark.parametrize(("path", "kind"), [("text", "is text"), ("html", "is an HTML page")])
def test_what_is_no_image_is_refused_by_the_decoder(
    web: WebServer, limits: IntakeLimits, path: str, kind: str
) -> None:
    """By what it is; the type that the server claims is not asked for."""
    with pytest.raises(InputError) as caught:
        decode(fetch(web.url(path), limits), path, limits)
    assert caught.value.code == "image_unreadable"
    assert kind in caught.value.message
    assert "secret words" not in caught.value.message


def test_a_body_cut_short_is_no_success(web: WebServer, limits: IntakeLimits) -> None:
    error = refusal(web.url("lie"), limits)
    assert error.code == "url_failed"
    assert "broke off" in error.message


@pytest.mark.parametrize(
    "say",
    [
        "secret words of the body",
        "HTTP/1.1 secret words\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: secret words\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nContent-Length: 5, 6\r\n\r\nx",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nsecret words",
        "HTTP/1.1 200 OK\r\nX: " + "secret words" * 9000,
        "HTTP/1.1 200 OK\r\n" + "X: y\r\n" * 200 + "\r\nx",
        "HTTP/1.1 302 Found\r\nLocation: http://[secret words\r\n\r\n",
    ],
    ids=lambda say: say[:50],
)
def test_nonsense_instead_of_an_answer(limits: IntakeLimits, web: WebServer, say: str) -> None:
    error = refusal(web.url(f"nonsense?say={quote(say)}"), limits)
    assert error.code in ("url_failed", "url_refused")


def test_nobody_listens(limits: IntakeLimits) -> None:
    error = refusal("http://127.0.0.1:9/cat.png", replace(limits, allow_ports=(9,)))
    assert error.code == "url_failed"
    assert "refused the connection" in error.message


def test_a_server_that_speaks_no_tls(web: WebServer, limits: IntakeLimits) -> None:
    error = refusal(web.url("cat.png").replace("http:", "https:"), limits)
    assert error.code == "url_failed"
    assert "No secure connection" in error.message


def test_a_certificate_that_cannot_be_trusted(
    limits: IntakeLimits, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told apart from other failures by what urllib3 wraps, three exceptions deep."""

    def untrusted(*args: object, **options: object) -> None:
        inner = ssl.SSLCertVerificationError(1, "self-signed certificate of secret words")
        reason = urllib3.exceptions.SSLError(inner)
        wrapped = urllib3.exceptions.MaxRetryError(urllib3.HTTPSConnectionPool("x"), "/", reason)
        raise requests.exceptions.SSLError(wrapped)

    monkeypatch.setattr(module.PinnedAdapter, "send", untrusted)
    assert (
        "certificate" in refusal("https://127.0.0.1/", replace(limits, allow_ports=(443,))).message
    )


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
