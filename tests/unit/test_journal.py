"""One line a request: how it ended and how long it took, without what was said."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest

from backend.client import Client
from backend.errors import BusyError, EngineError, InputError
from backend.types import ChatRequest, TokenEvent

from .eventually import until
from .fakes import App, ask, picture_file


@pytest.fixture
async def app(tokenizer: Any, caplog: pytest.LogCaptureFixture) -> App:
    caplog.set_level(logging.INFO, logger="bifocal.requests")
    return await App(tokenizer).started()


def lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The log of requests."""
    return [json.loads(r.message) for r in caplog.records if r.name == "bifocal.requests"]


def counted(app: App, name: str, **labels: str) -> float:
    """A value of the metrics' text; 0 where it is not there."""
    inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
    text = app.backend.metrics()
    found = re.search(rf"^bifocal_{name}{{{inside}}} (\S+)$" if inside else
                      rf"^bifocal_{name} (\S+)$", text, re.MULTILINE)  # fmt: skip
    return float(found[1]) if found else 0.0


SECRET = "my secret question"


async def test_an_answered_request(
    app: App, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    picture = picture_file(tmp_path, "private-name.png", (200, 30, 30))
    await app.answer(ask(SECRET, picture))
    (line,) = lines(caplog)
    assert (line["outcome"], line["turns"], line["images"]) == ("stop", 1, 1)
    assert (line["prompt_tokens"], line["image_tokens"], line["completion_tokens"]) == (50, 247, 3)
    assert 0 < line["ttft_s"] <= line["total_s"]
    assert SECRET not in caplog.text
    assert "private-name" not in caplog.text
    assert counted(app, "requests_total", outcome="stop") == 1
    assert counted(app, "tokens_total", kind="completion") == 3
    assert counted(app, "images_total", embedding="encoded") == 1
    assert counted(app, "stage_seconds_count", stage="ttft") == 1
    assert counted(app, "cache_embeddings") == 1


async def test_prompts_are_written_only_if_asked_for(
    tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="bifocal.requests")
    app = await App(tokenizer, log_prompts=True).started()
    await app.answer(ask(SECRET))
    (line,) = lines(caplog)
    assert (line["prompt"], line["answer"]) == (SECRET, "A red circle.")


async def test_a_fault_of_an_engine_tells_the_id_that_the_log_has(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    app.decoder.failure = EngineError("The language decoder stopped working.")
    with pytest.raises(
        EngineError, match=r"stopped working\. \(Request [0-9a-f]{8}\.\)$"
    ) as caught:
        await app.answer(ask())
    (line,) = lines(caplog)
    assert line["request"] in caught.value.message
    assert line["outcome"] == "engine_failed"


async def test_a_bad_request(app: App, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(InputError) as caught:
        await app.answer(ask(" "))
    assert "Request" not in caught.value.message
    assert lines(caplog)[0]["outcome"] == "bad_request"
    assert counted(app, "requests_total", outcome="bad_request") == 1


async def test_a_stopped_request(app: App, caplog: pytest.LogCaptureFixture) -> None:
    stream = app.backend.stream(ask())
    async for event in stream:
        if isinstance(event, TokenEvent):
            break
    await stream.aclose()
    assert lines(caplog)[0]["outcome"] == "cancelled"
    assert counted(app, "requests_inside") == 0


async def test_a_reader_that_leaves_after_the_last_event_has_its_answer(
    app: App, caplog: pytest.LogCaptureFixture
) -> None:
    stream = app.backend.stream(ask())
    events = [await anext(stream) for _ in range(6)]
    assert type(events[-1]).__name__ == "DoneEvent"
    await stream.aclose()
    assert lines(caplog)[0]["outcome"] == "stop"


async def test_the_rate_limit_is_of_a_session_and_of_an_address(
    tokenizer: Any, caplog: pytest.LogCaptureFixture
) -> None:
    app = await App(tokenizer, rate_limit=2).started()

    async def asks(session: str, address: str = "10.0.0.1") -> None:
        request: ChatRequest = ask()
        async for _ in app.backend.stream(request, Client(session, address)):
            pass

    for number in range(4):
        await asks(f"s{number}")
        await asks(f"s{number}")
        if number == 0:
            with pytest.raises(BusyError, match="More than 2 questions a minute"):
                await asks("s0", "10.0.0.2")
    with pytest.raises(BusyError, match="More than 8 questions a minute"):
        await asks("s9")
    await asks("s9", "10.0.0.3")
    assert counted(app, "requests_total", outcome="busy") == 2


@pytest.mark.parametrize(("flags", "limit"), [({}, 0), ({"share": True}, 60), (
    {"share": True, "rate_limit": 0}, 0)])  # fmt: skip
def test_a_public_link_is_limited_by_itself(flags: dict[str, Any], limit: int) -> None:
    from backend.settings import read_settings

    assert read_settings(flags).questions_a_minute == limit


async def test_more_requests_than_the_engines_take_wait_and_see_their_place(
    tokenizer: Any,
) -> None:
    app = await App(tokenizer, vision_batch=1, decode_batch=2).started()
    app.decoder.gate.clear()
    running = [asyncio.create_task(app.events(ask())) for _ in range(2)]
    await until(lambda: len(app.decoder.prompts) == 2)
    stream = app.backend.stream(ask())
    seen = []
    async for event in stream:
        seen.append(event)
        if getattr(event, "stage", "") == "queue":
            assert counted(app, "requests_waiting") == 1
            app.decoder.gate.set()
    assert "Your question is the next in the queue" in [getattr(e, "detail", "") for e in seen]
    assert seen[-1].result.timings.queue_s > 0  # type: ignore[union-attr]
    await asyncio.gather(*running)
