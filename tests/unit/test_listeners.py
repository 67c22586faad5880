"""An answer that nobody hears is given up: real Gradio queue, real connections."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import fastapi
import gradio as gr
import httpx
import pytest
import uvicorn

from ui import listeners
from ui.calm import calm
from ui.listeners import Listeners, mind_listeners

from .eventually import until

MANY = 60
"""More answers than Gradio by itself runs at a time."""


class Endless:
    """An app whose one answer never ends by itself."""

    def __init__(self) -> None:
        self.running = self.begun = 0
        self.listeners = Listeners()
        with gr.Blocks() as self.blocks:
            text = gr.Textbox()
            gr.Button().click(self.answer, text, text, api_name="answer", concurrency_limit=None)
        self.blocks.queue(default_concurrency_limit=None)
        calm(self.blocks, MANY)

    async def answer(self, text: str) -> AsyncGenerator[str, None]:
        self.running += 1
        self.begun += 1
        try:
            while True:
                yield text
                await asyncio.sleep(0.02)
        finally:
            self.running -= 1


@asynccontextmanager
async def served(endless: Endless) -> AsyncIterator[httpx.AsyncClient]:
    """The app on a port of its own."""
    app = fastapi.FastAPI()
    gr.mount_gradio_app(app, endless.blocks, path="/")
    mind_listeners(app, endless.blocks, endless.listeners)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        config = uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([taken]))
        try:
            base = f"http://127.0.0.1:{taken.getsockname()[1]}/gradio_api"
            async with httpx.AsyncClient(base_url=base, timeout=30) as http:
                yield http
        finally:
            # Not by force, which leaves tasks behind that end in the middle of other tests; and
            # Gradio's queue would go on looking for events for good.
            endless.blocks._queue.close()
            server.should_exit = True
            await serving


@pytest.fixture
async def app() -> AsyncIterator[tuple[Endless, httpx.AsyncClient]]:
    endless = Endless()
    async with served(endless) as http:
        yield endless, http


@asynccontextmanager
async def reading(http: httpx.AsyncClient, path: str) -> AsyncIterator[list[str]]:
    """What comes from a stream, until the block ends: then the connection breaks."""
    lines: list[str] = []

    async def read() -> None:
        async with http.stream("GET", path) as answer:
            async for line in answer.aiter_lines():
                lines.append(line)

    task = asyncio.create_task(read())
    try:
        await until(lambda: lines)
        yield lines
    finally:
        task.cancel()
        await asyncio.wait([task])


async def ask(http: httpx.AsyncClient, session: str) -> None:
    """As the page does; it reads its answers elsewhere."""
    body = {"fn_index": 0, "data": ["word"], "session_hash": session}
    assert (await http.post("/queue/join", json=body)).status_code == 200


async def call(http: httpx.AsyncClient) -> str:
    """As a program does; the address its answer is read from."""
    event = (await http.post("/call/answer", json={"data": ["word"]})).json()["event_id"]
    return f"/call/answer/{event}"


async def test_an_answer_that_nobody_comes_for(
    app: tuple[Endless, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    endless, http = app
    monkeypatch.setattr(listeners, "UNREAD_S", 0.5)
    address = await call(http)
    await until(lambda: endless.begun and not endless.running)
    answer = await http.get(address)
    last, data = answer.text.strip().split("\n\n")[-1].splitlines()
    assert last == "event: error"
    assert json.loads(data.removeprefix("data: "))["error"].startswith("not_heard: ")


async def test_an_answer_that_is_read_goes_on(
    app: tuple[Endless, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    endless, http = app
    monkeypatch.setattr(listeners, "UNREAD_S", 0.3)
    async with reading(http, await call(http)) as lines:
        # Far longer than it might stay unread.
        await until(lambda: len(lines) > 200)
        assert endless.running == 1
    await until(lambda: not endless.running)


async def test_calls_are_forgotten_once_they_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a session of its own, which Gradio would keep."""
    monkeypatch.setattr(listeners, "READ_S", 0.5)
    endless = Endless()
    async with served(endless) as http:
        for number in range(3):
            async with reading(http, await call(http)):
                await until(lambda n=number: endless.begun > n)
        await until(lambda: not endless.running)
        queue, kept = endless.blocks._queue, endless.blocks.state_holder.session_data
        assert len(kept) == 3
        read = asyncio.get_running_loop().time()
        await until(lambda: asyncio.get_running_loop().time() > read + 0.6)
        async with reading(http, await call(http)):
            pass
        await until(lambda: (len(kept), len(queue.pending_event_ids_session)) == (1, 1))


async def test_a_page_closed_before_it_reads(app: tuple[Endless, httpx.AsyncClient]) -> None:
    endless, http = app
    async with reading(http, "/heartbeat/tab"):
        await ask(http, "tab")
        await until(lambda: endless.running)
    await until(lambda: not endless.running, within=3 * listeners.AWAY_S)


async def test_a_question_that_comes_after_its_page_has_gone(
    app: tuple[Endless, httpx.AsyncClient],
) -> None:
    endless, http = app
    async with reading(http, "/heartbeat/tab"):
        pass
    await ask(http, "tab")
    await until(lambda: endless.begun and not endless.running, within=3 * listeners.AWAY_S)


@pytest.mark.parametrize("held", ["/heartbeat/tab", "/queue/data?session_hash=tab"])
async def test_a_page_that_comes_back_is_answered(
    app: tuple[Endless, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch, held: str
) -> None:
    """One of its two connections is enough."""
    endless, http = app
    monkeypatch.setattr(listeners, "AWAY_S", 0.1)
    async with reading(http, "/heartbeat/tab"):
        pass
    await ask(http, "tab")
    async with reading(http, held):
        begun: Any = asyncio.get_running_loop().time()
        await until(lambda: asyncio.get_running_loop().time() > begun + 0.5)
        assert endless.running == 1
    await until(lambda: not endless.running)


async def test_what_a_page_does_not_know_to_read(
    app: tuple[Endless, httpx.AsyncClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    endless, http = app
    monkeypatch.setattr(listeners, "STRANDED_S", 0.1)
    async with reading(http, "/heartbeat/tab"):
        assert not endless.listeners.is_stranded("tab")
        await ask(http, "tab")
        await until(lambda: endless.listeners.is_stranded("tab"))
        async with reading(http, "/queue/data?session_hash=tab"):
            begun: Any = asyncio.get_running_loop().time()
            while asyncio.get_running_loop().time() < begun + 0.5:
                await asyncio.sleep(0.01)
                assert not endless.listeners.is_stranded("tab")


async def test_as_many_answers_run_as_the_backend_takes(
    app: tuple[Endless, httpx.AsyncClient],
) -> None:
    endless, http = app
    for _ in range(MANY):
        (await http.post("/call/answer", json={"data": ["hi"]})).raise_for_status()
    await until(lambda: endless.running == MANY)
