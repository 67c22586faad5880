"""URLs a stranger may not have us fetch: nothing private, by spelling, name, hop or rebinding."""

import dataclasses
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest
import requests

from backend.errors import InputError
from backend.intake import address as module
from backend.intake.address import Address, parse_address, public_ip, resolve
from backend.intake.deadline import Deadline
from backend.intake.fetch import PinnedAdapter, fetch
from backend.intake.limits import IntakeLimits
from backend.intake.networks import is_public

from .pictures import LIMITS
from .web import PICTURE, WebServer

PUBLIC = "93.184.216.34"


@pytest.fixture(scope="module")
def web() -> Iterator[WebServer]:
    with WebServer() as server:
        yield server
        server.shutdown()


@pytest.fixture
def limits(web: WebServer, monkeypatch: pytest.MonkeyPatch) -> IntakeLimits:
    """Private addresses are refused, but this test's server counts as public."""
    monkeypatch.setattr(
        module, "is_public", lambda address: address == "127.0.0.1" or is_public(address)
    )
    return dataclasses.replace(LIMITS, allow_ports=(80, 443, web.port))


def names(**known: list[str]) -> Callable[[str, int], list[str]]:
    """A resolver of these names (`_` for a dot); it takes addresses as they are."""

    def resolver(host: str, port: int) -> list[str]:
        key = host.replace(".", "_")
        return known[key] if key in known else resolve(host, port)

    return resolver


def check(
    url: str, limits: IntakeLimits, resolver: Callable[[str, int], list[str]]
) -> tuple[Address, str]:
    """Everything that is checked before a connection is made."""
    address = parse_address(url, limits)
    return address, public_ip(address, limits, resolver, Deadline(5))


def refused(url: str, limits: IntakeLimits = LIMITS, **known: list[str]) -> InputError:
    with pytest.raises(InputError) as caught:
        fetch(url, limits, names(**known))
    assert caught.value.code == "url_refused"
    return caught.value


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.com/cat.png",
        "gopher://example.com/",
        "data:image/png;base64,AAAA",
        "javascript:alert(1)",
        "cat.png",
        "//example.com/cat.png",
        "http://",
        "http:///cat.png",
        "http://[::1",
        "http://ann:geheim@example.com/",
        "http://ann@example.com/",
        "http://@example.com/",
        "http://example.com:22/",
        "http://example.com:99999/",
        "http://example.com:port/",
        "http://example.com\\@127.0.0.1/",
        "http://example.com/a b",
        "http://exa\tmple.com/",
        "http://exa\nmple.com/",
        "http://exam\u200bple.com/\u200b",
        "http://example.com\u3000/",
        "http://example.com/\x7f",
        "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/",
        "http://[v1.fe80]/",
        "http://[127.0.0.1]/",
        "http://exam%70le.com/",
        "http://example.com%2f@127.0.0.1/",
        "http://*.example.com/",
        "http://example.com/" + "a" * 8000,
        "http:example.com",
        "https:///example.com",
    ],
)
def test_what_is_refused_before_any_name_is_looked_up(url: str) -> None:
    def never(host: str, port: int) -> list[str]:
        raise AssertionError(f"{host} was looked up")

    with pytest.raises(InputError) as caught:
        check(url, LIMITS, never)
    assert caught.value.code == "url_refused"
    assert "geheim" not in caught.value.message


@pytest.mark.parametrize("private", ["10.0.0.5", "127.0.0.1", "::1", "169.254.169.254"])
def test_a_name_of_a_private_address(private: str) -> None:
    refused("http://inside.test/", inside_test=[private])


def test_one_private_address_among_public_ones_is_enough() -> None:
    refused("http://mixed.test/", mixed_test=[PUBLIC, "10.0.0.5"])


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(InputError) as caught:
        check("http://nowhere.test/", LIMITS, names(nowhere_test=[]))
    assert caught.value.code == "url_failed"
    assert "could not be found" in caught.value.message


def test_a_public_name_goes_to_its_address() -> None:
    address, ip = check("https://cats.test/a?b#c", LIMITS, names(cats_test=[PUBLIC]))
    assert (address.url, ip) == ("https://cats.test/a?b", PUBLIC)


@pytest.mark.parametrize(
    "url", ["HTTP://CATS.test./", "http://cats.test:80/", "http://cats.test:/"]
)
def test_one_spelling_goes_out(url: str) -> None:
    address = parse_address(url, LIMITS)
    assert (address.url, address.host, address.port) == ("http://cats.test/", "cats.test", 80)


@pytest.mark.parametrize(
    "target",
    [
        "http://127.0.0.2/",
        "http://169.254.169.254/latest/meta-data",
        "http://[::1]/",
        "http://inside.test/",
        "//inside.test/",
        "http://2130706434/",
        "https://10.0.0.5/",
        "http://cats.test:22/",
    ],
)
def test_a_redirect_to_a_private_address(web: WebServer, limits: IntakeLimits, target: str) -> None:
    url = web.url(f"redirect?to={quote(target)}")
    refused(url, limits, inside_test=["10.0.0.5"], cats_test=[PUBLIC])


def test_a_public_name_that_redirects_to_a_private_one(
    web: WebServer, limits: IntakeLimits
) -> None:
    url = web.url("redirect?to=http://inside.test/", host="cats.test")
    refused(url, limits, cats_test=["127.0.0.1"], inside_test=["192.168.0.1"])
    assert web.asked[-1][1] == "/redirect?to=http://inside.test/"


def test_a_name_is_looked_up_once_and_the_checked_address_connected_to(
    web: WebServer, limits: IntakeLimits
) -> None:
    """Rebinding: the second answer to the same question is private. Nobody asks twice."""
    answers = iter([["127.0.0.1"], ["10.0.0.5"]])
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return next(answers)

    assert fetch(web.url("cat.png", host="rebind.test"), limits, rebinding) == PICTURE
    assert asked == ["rebind.test"]
    assert web.asked[-1] == (f"rebind.test:{web.port}", "/cat.png")


@pytest.mark.parametrize(
    ("name", "ascii_name"),
    [("b\u00fccher.test", "xn--bcher-kva.test"), ("\u4e2d\u6587.test", "xn--fiq228c.test")],
)
def test_a_name_of_any_script_has_one_spelling_on_the_wire(
    web: WebServer, limits: IntakeLimits, name: str, ascii_name: str
) -> None:
    """The Host header was sent in Latin-1, or could not be sent at all."""
    asked: list[str] = []

    def resolver(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"]

    assert fetch(web.url("cat.png", host=name), limits, resolver) == PICTURE
    assert asked == [ascii_name]
    assert web.asked[-1][0] == f"{ascii_name}:{web.port}"


def test_a_redirect_does_not_tell_where_inside_it_led(web: WebServer, limits: IntakeLimits) -> None:
    """Neither the name nor whether it exists, beyond that it is not public."""
    for target in ("http://inside.test/secret", "http://inside.test:8080/secret"):
        url = web.url(f"redirect?to={quote(target)}", host="cats.test")
        message = refused(url, limits, cats_test=["127.0.0.1"], inside_test=["10.0.0.5"]).message
        assert "cats.test redirects to an address that" in message
        for leak in ("inside", "secret", "10.0.0.5", "8080"):
            assert leak not in message


@pytest.mark.parametrize("host", ["a..b", "x" * 64 + ".test", ".test"])
def test_a_name_that_no_name_can_be(host: str) -> None:
    with pytest.raises(InputError) as caught:
        check(f"http://{host}/", LIMITS, names())
    assert caught.value.code == "url_failed"


def test_each_hop_is_looked_up_and_checked_anew(web: WebServer, limits: IntakeLimits) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.5"]])
    with pytest.raises(InputError) as caught:
        fetch(web.url("redirect?to=/cat.png", host="rebind.test"), limits, lambda *_: next(answers))
    assert caught.value.code == "url_refused"


def test_tls_is_with_the_name_and_the_connection_with_the_address() -> None:
    request = requests.Request("GET", "https://cats.test/a").prepare()
    adapter = PinnedAdapter(PUBLIC, "cats.test")
    pool = adapter.get_connection_with_tls_context(request, verify=True)
    assert (pool.host, pool.port) == (PUBLIC, 443)
    assert pool.conn_kw["server_hostname"] == "cats.test"
    assert pool.assert_hostname == "cats.test"


def test_an_odd_port_may_be_allowed() -> None:
    limits = dataclasses.replace(LIMITS, allow_ports=(8080,))
    assert check("http://cats.test:8080/", limits, names(cats_test=[PUBLIC]))[1] == PUBLIC
    with pytest.raises(InputError, match="Port 80 is not allowed, only 8080"):
        check("http://cats.test/", limits, names(cats_test=[PUBLIC]))


def test_private_addresses_may_be_allowed(web: WebServer) -> None:
    limits = dataclasses.replace(LIMITS, allow_private=True, allow_ports=(web.port,))
    assert fetch(web.url("cat.png"), limits) == PICTURE


def test_the_message_does_not_tell_which_private_address_a_name_has() -> None:
    assert "10.0.0.5" not in refused("http://inside.test/", inside_test=["10.0.0.5"]).message
