"""Servers of one role: balanced, taken out when down, asked again, and told apart when wrong."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from backend.addresses import ServerAddress
from backend.engines.fleet import Fleet
from backend.engines.remote_server import RemoteServer, ServerDownError
from backend.errors import EngineError, InputError

from .http_server import HttpServer, serving

MODEL = "bifocal-demo.language"
ENDPOINT = "/inference/v1/generate"


def fleet_of(*servers: HttpServer, key: str | None = None, scheme: str = "http") -> Fleet:
    """The client's side of these servers."""
    addresses = [ServerAddress(f"{scheme}://127.0.0.1:{s.port}", key) for s in servers]
    return Fleet(
        "language decoder",
        [RemoteServer(a, "language decoder", MODEL, 4096) for a in addresses],
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
    with pytest.raises(EngineError) as caught:
        await fleet.look()
    return caught.value


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


async def test_a_dead_one_is_taken_out_and_used_again(two: tuple[HttpServer, HttpServer]) -> None:
    one, other = two
    fleet = fleet_of(one, other)
    await fleet.look()
    await one.stop()
    assert [(await lines_of(fleet))[0] for _ in range(3)] == ["other"] * 3
    await fleet.look()
    assert fleet.trouble.startswith("1 of 2 servers answer.")
    assert f"http://127.0.0.1:{one.port} cannot be reached" in fleet.trouble
    await one.start()
    await fleet.look()
    assert fleet.trouble == ""
    assert {(await lines_of(fleet))[0] for _ in range(4)} == {"one", "other"}


async def test_all_are_dead(two: tuple[HttpServer, HttpServer]) -> None:
    fleet = fleet_of(*two)
    await fleet.look()
    for server in two:
        await server.stop()
    with pytest.raises(EngineError, match="cannot be reached"):
        await lines_of(fleet)
    assert (await trouble_of(fleet)).may_pass


async def test_one_goes_away_in_the_middle_of_an_answer(two: tuple[HttpServer, HttpServer]) -> None:
    """The other one must not begin anew what a person has read half of."""
    fleet = fleet_of(two[0])
    await fleet.look()
    two[0].gate.clear()
    heard = []
    with pytest.raises(EngineError, match="went away in the middle of the answer: ask once more"):
        async for line in fleet.stream(lambda server: read(fleet, server)):
            heard.append(line)
            await two[0].stop()
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


async def test_counters_have_the_servers_address(two: tuple[HttpServer, HttpServer]) -> None:
    fleet = fleet_of(*two)
    await fleet.look()
    samples = [sample for family in fleet.metrics() for sample in family.samples]
    assert [sample.value for sample in samples] == [7.0, 7.0]
    assert {sample.labels["server"] for sample in samples} == {
        f"http://127.0.0.1:{server.port}" for server in two
    }


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
    ("path", "status", "body", "words", "may_pass"),
    [
        ("/health", 503, "", "is loading, or its engine has stopped working (503", True),
        ("/health", 404, "<html>nginx</html>", "404: <html>nginx</html>", False),
        (
            ENDPOINT, 403, '{"error": {"message": "Restart with --enable-scale-out"}}',
            "403: Restart with --enable-scale-out", False,
        ),
        ("/v1/models", 200, '{"data": []}', "serves nothing", False),
        ("/v1/models", 200, "<html>Hello</html>", "no `vllm serve` (<html>Hello</html>)", False),
        ("/v1/models", 200, "[]", "no `vllm serve` ([])", False),
    ],
)  # fmt: skip
async def test_a_server_that_is_not_as_it_should_be(
    path: str, status: int, body: str, words: str, may_pass: bool
) -> None:
    server = HttpServer(MODEL)
    server.says[path] = (status, body)
    async with serving(server):
        error = await trouble_of(fleet_of(server))
    assert words in error.message
    assert error.may_pass == may_pass


async def test_a_refused_request_is_the_requests_fault() -> None:
    server = HttpServer(MODEL)
    async with serving(server):
        fleet = fleet_of(server)
        await fleet.look()

        async def ask(asked: RemoteServer) -> Any:
            async with asked.waiting():
                answer = await fleet.client.post(asked.address.url + ENDPOINT, json={})
            asked.check(answer, answer.content)

        with pytest.raises(InputError, match="refused the request: empty"):
            await fleet.send(ask)
    assert fleet.unfinished == 0


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
    server = RemoteServer(ServerAddress("http://h"), "language decoder", MODEL, 1)
    assert not server.is_up
    assert isinstance(ServerDownError("x"), EngineError)
