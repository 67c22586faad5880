"""Proxies of the environment: used only where private addresses are allowed anyway."""

import dataclasses
from collections.abc import Iterator

import pytest

from backend.errors import InputError
from backend.intake import address as module
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits

from .pictures import LIMITS
from .web import PICTURE, WebServer


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture(scope="module")
def proxy() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def proxied(proxy: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, proxy.url(""))
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    proxy.asked.clear()


def nowhere(host: str, port: int) -> list[str]:
    raise OSError("no such name")


def limits(web: WebServer, allow_private: bool) -> IntakeLimits:
    return dataclasses.replace(LIMITS, allow_private=allow_private, allow_ports=(80, web.port))


def test_a_shared_app_ignores_it(
    web: WebServer, proxy: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would look the name up itself and connect to an address that nobody checked."""
    monkeypatch.setattr(module, "is_public", lambda ip: True)
    assert fetch(web.url("cat.png"), limits(web, allow_private=False)) == PICTURE
    assert proxy.asked == []


def test_with_private_addresses_allowed_it_is_used(web: WebServer, proxy: WebServer) -> None:
    """Also for names that only the proxy knows."""
    assert fetch("http://cats.test/cat.png", limits(web, allow_private=True), nowhere) == PICTURE
    assert proxy.asked == [("cats.test", "http://cats.test/cat.png")]


def test_what_the_environment_exempts_goes_straight(
    web: WebServer, proxy: WebServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    assert fetch(web.url("cat.png"), limits(web, allow_private=True)) == PICTURE
    assert proxy.asked == []


def test_a_proxy_that_is_not_there(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "http://ann:geheim@127.0.0.1:9")
    with pytest.raises(InputError) as caught:
        fetch("http://cats.test/cat.png", limits(web, allow_private=True), nowhere)
    assert caught.value.code == "url_failed"
    assert "geheim" not in caught.value.message
