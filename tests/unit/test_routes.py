"""The plain routes beside the page: who may see the metrics, and how wrong passwords are met."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from ui import login_brake
from ui.app import create_app

from .fakes import App, ask


@asynccontextmanager
async def web(app: App) -> AsyncIterator[httpx.AsyncClient]:
    """The web application without a network."""
    transport = httpx.ASGITransport(create_app(app.backend))
    async with httpx.AsyncClient(transport=transport, base_url="http://bifocal") as client:
        yield client


async def test_metrics_are_prometheus_text(tokenizer: Any) -> None:
    app = await App(tokenizer).started()
    await app.answer(ask())
    async with web(app) as client:
        answer = await client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    assert 'bifocal_requests_total{outcome="stop"} 1.0' in lines
    assert 'bifocal_engine_up{role="vision"} 1.0' in lines
    assert 'bifocal_engine_restarts{role="language"} 0.0' in lines
    assert "bifocal_requests_running 0.0" in lines
    assert 'bifocal_engine_unfinished{role="vision"} 0.0' in lines


@pytest.mark.parametrize(
    ("given", "status"),
    [
        (None, 401),
        (("ada", "wrong"), 401),
        (("eve", "pass:word"), 401),
        (("ada", "pass:word"), 200),
        (("bob", "übung"), 200),
        (("bob", "ü"), 401),
    ],
)
async def test_metrics_ask_for_a_user_of_the_page(
    tokenizer: Any, given: tuple[str, str] | None, status: int
) -> None:
    app = App(tokenizer, auth=("ada:pass:word", "bob:übung"))
    async with web(app) as client:
        auth = httpx.BasicAuth(*given) if given else None
        answer = await client.get("/metrics", auth=auth)
    assert answer.status_code == status
    assert ("bifocal_" in answer.text) == (status == 200)
    assert ("www-authenticate" in answer.headers) == (status == 401)


async def log_in(client: httpx.AsyncClient, password: str) -> httpx.Response:
    return await client.post("/login", data={"username": "ada", "password": password})


async def test_wrong_passwords_are_answered_ever_more_slowly(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    # Not asyncio's own: whatever else runs in the loop would go on without a pause.
    monkeypatch.setattr(login_brake, "asyncio", SimpleNamespace(sleep=sleep))
    async with web(App(tokenizer, auth=("ada:right",))) as client:
        for _ in range(6):
            assert (await log_in(client, "wrong")).status_code == 400
        assert [wait for wait in waits if wait] == [1, 2, 3]
        before = len(waits)
        assert (await log_in(client, "right")).status_code == 200
        assert not any(waits[before:])


async def test_only_so_many_attempts_wait_at_once(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(login_brake, "FREE", 0)
    monkeypatch.setattr(login_brake, "STEP_S", 0.3)
    monkeypatch.setattr(login_brake, "AT_ONCE", 2)
    async with web(App(tokenizer, auth=("ada:right",))) as client:
        started = time.monotonic()
        answers = await asyncio.gather(*(log_in(client, "wrong") for _ in range(5)))
    assert sorted(answer.status_code for answer in answers) == [400, 400, 429, 429, 429]
    assert time.monotonic() - started >= 0.3
