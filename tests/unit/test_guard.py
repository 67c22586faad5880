"""Faults of the web framework end as one answer; a fault of ours is in the log in full."""

from __future__ import annotations

import json
import logging
from typing import Any

import fastapi
import httpx
import pytest
from fastapi.responses import StreamingResponse

from ui.app import create_app
from ui.guard import Guard, answer_faults

from .fakes import App


def client(app: fastapi.FastAPI) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://bifocal")


@pytest.fixture
def broken() -> fastapi.FastAPI:
    """Routes that fail in their ways."""
    app = fastapi.FastAPI()

    @app.get("/value")
    async def value() -> None:
        raise ValueError("secret detail")

    @app.get("/fault")
    async def fault() -> None:
        raise RuntimeError("secret detail")

    @app.get("/stream")
    async def stream() -> StreamingResponse:
        async def events() -> Any:
            yield b"data: 1\n\n"
            raise fastapi.HTTPException(404)

        return StreamingResponse(events(), media_type="text/event-stream")

    answer_faults(app)
    app.add_middleware(Guard)
    return app


async def test_what_a_call_makes_a_route_stumble_over(broken: fastapi.FastAPI) -> None:
    async with client(broken) as http:
        answer = await http.get("/value")
    assert answer.status_code == 400
    assert answer.json()["error"]["code"] == "bad_request"
    assert "secret" not in answer.text


async def test_a_fault_of_ours(broken: fastapi.FastAPI, caplog: pytest.LogCaptureFixture) -> None:
    async with client(broken) as http:
        answer = await http.get("/fault")
    assert answer.status_code == 500
    assert "secret" not in answer.text
    (record,) = [r for r in caplog.records if r.name == "bifocal" and r.exc_info]
    assert record.levelno == logging.ERROR
    assert "secret detail" in str(record.exc_info and record.exc_info[1])


async def test_a_stream_that_breaks_ends_with_an_event(broken: fastapi.FastAPI) -> None:
    async with client(broken) as http:
        answer = await http.get("/stream")
    first, last = answer.text.strip().split("\n\n")
    assert first == "data: 1"
    kind, data = last.splitlines()
    assert kind == "event: error"
    assert json.loads(data.removeprefix("data: ")).startswith("bad_request: ")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/gradio_api/call/ask", b"{"),
        ("/gradio_api/call/ask", b'{"data": 7}'),
        ("/gradio_api/call/nothing", b'{"data": []}'),
        ("/gradio_api/queue/join", b'{"data": [], "fn_index": -1, "session_hash": "x"}'),
        ("/gradio_api/queue/join", b'{"data": [{"path": 7, "meta": {}}], "fn_index": 1}'),
        ("/gradio_api/run/predict", b'{"data": [NaN]}'),
    ],
)
async def test_malformed_calls_of_the_page(tokenizer: Any, path: str, body: bytes) -> None:
    """FastAPI and Gradio answered some of these with status 500 and a trace in the log."""
    app = create_app(App(tokenizer).backend)
    async with client(app) as http:
        headers = {"content-type": "application/json"}
        answer = await http.post(path, content=body, headers=headers)
    assert 400 <= answer.status_code < 500, answer.text
    assert "Traceback" not in answer.text
