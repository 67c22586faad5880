"""Servers of one role: balanced, taken out when down, asked again, and told apart when wrong."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from backend.addresses import ServerAddress
from backend.engines.fleet import Fleet
from backend.engines.remote_server import RemoteServer
from backend.engines.server_faults import ServerDownError
from backend.errors import BifocalError, EngineError, InputError

from .http_server import HttpServer, serving

MODEL = "bifocal-demo.language"
ENDPOINT = "/inference/v1/generate"


def fleet_of(*servers: HttpServer, key: str | None = None, scheme: str = "http") -> Fleet:
    """The client's side of these servers."""
    addresses = [ServerAddress(f"{scheme}://127.0.0.1:{s.port}", key) for s in servers]
    return Fleet(
        "language decoder",
        [
            RemoteServer(address, "language", MODEL, 4096, number, len(addresses))
            for number, address in enumerate(addresses, 1)
        ],
        ENDPOINT,
    )


@pytest.fixture
async def two() -> AsyncIterator[tuple[HttpServer, HttpServer]]:
    one, other = HttpServer(MODEL), HttpServer(MODEL)
    one.pieces, other.pieces = ["one\n", "more\n"], ["other\n", "more\n"]
    async with serving(one, other):
        yield one, other


async def read(fleet: Fleet, server: RemoteServer) -> AsyncGenerator[str, None]:
    """The lines of an answer."""
    client = fleet.client
    asking = client.build_request("POST", server.address.url + ENDPOINT, json={"ask": 1})
    async with server.waiting():
        answer = await client.send(asking, stream=True)
    try:
        lines = answer.aiter_lines()
        while True:
            async with server.waiting():
                line = await anext(lines, None)
            if line is None:
                return
            yield line
    finally:
        await answer.aclose()


async def lines_of(fleet: Fleet) -> list[str]:
    async with aclosing(fleet.stream(lambda server: read(fleet, server))) as lines:
        return [line async for line in lines]


async def trouble_of(fleet: Fleet) -> EngineError:
    """What everybody is told; never with an address."""
    with pytest.raises(EngineError) as caught:
        await fleet.look()
    assert "127.0.0.1" not in caught.value.message
    return caught.value


@pytest.fixture
def logged(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """What the operator reads."""
    caplog.set_level(logging.INFO, "bifocal")
    return caplog


async def test_both_are_used_at_the_same_time(two: tuple[HttpServer, HttpServer]) -> None:
    fleet = fleet_of(*two)
    await fleet.look()
    for server in two:
        server.gate.clear()
    answers = [asyncio.create_task(lines_of(fleet)) for _ in range(4)]
    async with asyncio.timeout(10):
        while [len(server.asked) for server in two] != [2, 2]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert fleet.unfinished == 4
    for server in two:
        server.gate.set()
    assert sorted(lines[0] for lines in await asyncio.gather(*answers)) == [
        "one", "one", "other", "other",
    ]  # fmt: skip
    assert fleet.unfinished == 0


async def test_a_dead_one_is_taken_out_and_used_again(
    two: tuple[HttpServer, HttpServer], logged: pytest.LogCaptureFixture
) -> None:
    one, other = two
    fleet = fleet_of(one, other)
    await fleet.look()
    await one.stop()
    assert [(await lines_of(fleet))[0] for _ in range(3)] == ["other"] * 3
    await fleet.look()
    words = "Language server 1 of 2 cannot be reached: wait until it has loaded, or correct"
    assert fleet.trouble == f"1 of 2 servers answer. {words} its address."
    await fleet.look()
    lines = [line for line in logged.messages if "cannot be reached" in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"http://127.0.0.1:{one.port}: {words}")
    await one.start()
    await fleet.look()
    assert fleet.trouble == ""
    assert {(await lines_of(fleet))[0] for _ in range(4)} == {"one", "other"}


async def test_all_are_dead(two: tuple[HttpServer, HttpServer]) -> None:
    fleet = fleet_of(*two)
    await fleet.look()
    for server in two:
        await server.stop()
    with pytest.raises(EngineError, match=r"1 of 2 cannot be reached.*2 of 2 cannot") as caught:
        await lines_of(fleet)
    assert "127.0.0.1" not in caught.value.message
    assert (await trouble_of(fleet)).may_pass


async def test_one_goes_away_in_the_middle_of_an_answer(two: tuple[HttpServer, HttpServer]) -> None:
    """The other one must not begin anew what a person has read half of."""
    fleet = fleet_of(two[0])
    await fleet.look()
    two[0].gate.clear()
    heard = []
    words = "The language server went away in the middle of the answer: ask once more"
    with pytest.raises(EngineError, match=words) as caught:
        async for line in fleet.stream(lambda server: read(fleet, server)):
            heard.append(line)
            await two[0].stop()
    assert "127.0.0.1" not in caught.value.message
    assert heard == ["one"]


async def test_who_waits_for_a_server_that_hangs_is_told(
    two: tuple[HttpServer, HttpServer],
) -> None:
    fleet = fleet_of(two[0])
    await fleet.look()
    two[0].gate.clear()
    asking = asyncio.create_task(lines_of(fleet))
    async with asyncio.timeout(10):
        while not two[0].asked:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        await asyncio.to_thread(fleet.drop)
        with pytest.raises(EngineError, match="given up"):
            await asking


async def test_leaving_closes_the_connection(two: tuple[HttpServer, HttpServer]) -> None:
    """Which is how vLLM learns that a request is to be aborted."""
    fleet = fleet_of(two[0])
    await fleet.look()
    two[0].gate.clear()
    async with aclosing(fleet.stream(lambda server: read(fleet, server))) as lines:
        assert await anext(lines) == "one"
    async with asyncio.timeout(10):
        await two[0].gone.wait()
    assert fleet.unfinished == 0
    await asyncio.to_thread(fleet.close)


async def test_counters_have_the_servers_number(two: tuple[HttpServer, HttpServer]) -> None:
    """In the order of the addresses; whoever may see the page may see the counters."""
    fleet = fleet_of(*two)
    await fleet.look()
    samples = [sample for family in fleet.metrics() for sample in family.samples]
    assert [sample.value for sample in samples] == [7.0, 7.0]
    assert [sample.labels["server"] for sample in samples] == ["1", "2"]


@pytest.mark.parametrize(
    ("key", "words"),
    [(None, "it asks for a key"), ("wrong", "the key is wrong")],
)
async def test_a_wrong_key(key: str | None, words: str) -> None:
    server = HttpServer(MODEL, key="right")
    async with serving(server):
        error = await trouble_of(fleet_of(server, key=key))
        await fleet_of(server, key="right").look()
    assert words in error.message
    assert "--language-api-key" in error.message
    assert "wrong" not in error.message.replace("the key is wrong", "")
    assert not error.may_pass


async def test_a_server_of_another_model() -> None:
    server = HttpServer("bifocal-demo.vision")
    async with serving(server):
        error = await trouble_of(fleet_of(server))
    assert "serves bifocal-demo.vision, not bifocal-demo.language" in error.message
    assert not error.may_pass


async def test_a_context_that_is_too_short() -> None:
    server = HttpServer(MODEL)
    server.length = 2048
    async with serving(server):
        error = await trouble_of(fleet_of(server))
    assert "2048 tokens" in error.message
    assert "--ctx-len 2048" in error.message


@pytest.mark.parametrize(
    ("path", "status", "body", "words", "seen", "may_pass"),
    [
        (
            "/health", 503, "", "is loading, or its engine has stopped working (503)",
            "no reason given", True,
        ),
        (
            "/health", 404, "<html>nginx at lm.lan</html>", "not take such requests (404)",
            "<html>nginx at lm.lan</html>", False,
        ),
        (
            "/health", 400, "Speak TLS to lm.lan", "is no `vllm serve`: correct",
            "Speak TLS to lm.lan", False,
        ),
        (
            ENDPOINT, 403, '{"error": {"message": "Restart with --enable-scale-out"}}',
            "not take such requests (403)", "Restart with --enable-scale-out", False,
        ),
        (
            ENDPOINT, 500, '{"error": {"message": "no peer at lm.lan"}}',
            "could not process the request (500): ask once more", "no peer at lm.lan", True,
        ),
        ("/v1/models", 200, '{"data": []}', "serves nothing", "", False),
        (
            "/v1/models", 200, "<html>lm.lan</html>", "is no `vllm serve`: correct",
            "<html>lm.lan</html>", False,
        ),
        ("/v1/models", 200, "[]", "is no `vllm serve`: correct", "[]", False),
    ],
)  # fmt: skip
async def test_a_server_that_is_not_as_it_should_be(
    path: str,
    status: int,
    body: str,
    words: str,
    seen: str,
    may_pass: bool,
    logged: pytest.LogCaptureFixture,
) -> None:
    """Everybody is told what to do; what the server said is for the operator."""
    server = HttpServer(MODEL)
    server.says[path] = (status, body)
    async with serving(server):
        error = await trouble_of(fleet_of(server))
    assert error.message.startswith("The language server ")
    assert words in error.message
    assert "lm.lan" not in error.message
    assert not seen or seen not in error.message
    (line,) = logged.messages
    assert line == f"http://127.0.0.1:{server.port}: {error.message}{f' ({seen})' if seen else ''}"
    assert error.may_pass == may_pass


async def asked(fleet: Fleet, answer: tuple[int, str], server: HttpServer) -> BifocalError:
    """What becomes of a request that the server answers so."""
    await fleet.look()
    server.says[ENDPOINT] = answer

    async def ask(there: RemoteServer) -> Any:
        async with there.waiting():
            response = await fleet.client.post(there.address.url + ENDPOINT, json={"ask": 1})
        there.check(response, response.content)

    with pytest.raises(BifocalError) as caught:
        await fleet.send(ask)
    assert fleet.unfinished == 0
    return caught.value


@pytest.mark.parametrize(
    ("status", "body", "words", "seen"),
    [
        (400, '{"error": {"message": "too long"}}', "refused the request: too long", ""),
        (
            413, "<address>nginx at lm.lan</address>",
            "refused the request: its reason is in the log.", "nginx at lm.lan",
        ),
        (
            500, '{"error": {"message": "no peer at lm.lan"}}',
            "could not process the request (500): ask once more", "no peer at lm.lan",
        ),
    ],
)  # fmt: skip
async def test_what_a_server_says_of_a_request_is_in_the_log(
    status: int, body: str, words: str, seen: str, logged: pytest.LogCaptureFixture
) -> None:
    server = HttpServer(MODEL)
    async with serving(server):
        fleet = fleet_of(server)
        error = await asked(fleet, (status, body), server)
        assert words in error.message
        assert not seen or seen not in error.message
        assert seen in logged.text
        assert not seen or f"http://127.0.0.1:{server.port}" in logged.messages[-1]
        assert isinstance(error, InputError) == (status < 500)
        assert fleet.trouble == ""


async def test_tls_where_there_is_none() -> None:
    server = HttpServer(MODEL)
    async with serving(server):
        error = await trouble_of(fleet_of(server, scheme="https"))
    assert "does not speak TLS" in error.message
    assert not error.may_pass


async def test_a_certificate_that_is_not_trusted(
    certificate: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    server = HttpServer(MODEL)
    async with serving(server, tls=tls):
        error = await trouble_of(fleet_of(server, scheme="https"))
        assert "certificate that is not trusted" in error.message
        assert "SSL_CERT_FILE" in error.message
        assert not error.may_pass
        monkeypatch.setenv("SSL_CERT_FILE", certificate[0])
        await fleet_of(server, scheme="https").look()


async def test_greeting_is_done_outside_of_the_loop() -> None:
    server = HttpServer(MODEL)
    fleet = fleet_of(server)
    with pytest.raises(EngineError):
        await asyncio.to_thread(fleet.greet)
    async with serving(server):
        fleet = fleet_of(server)
        await asyncio.to_thread(fleet.greet)
        server.pieces = ["one\n"]
        assert await lines_of(fleet) == ["one"]


def test_a_server_that_was_never_asked_is_down() -> None:
    server = RemoteServer(ServerAddress("http://h"), "language", MODEL, 1)
    assert not server.is_up
    assert server.trouble == "The language server has not been asked yet."
    assert isinstance(ServerDownError("x"), EngineError)
