"""Waiting and cancelling: closing the iterator, or its task, ends what the engines do for it."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backend.errors import EngineError, InputError
from backend.types import DoneEvent, ImageInput, StageEvent, TokenEvent

from .fakes import App, ask, picture_file, shape
from .pictures import BLUE, RED


@pytest.fixture
def images(tmp_path: Path) -> list[ImageInput]:
    return [picture_file(tmp_path, "red.png", RED), picture_file(tmp_path, "blue.png", BLUE)]


async def until(condition: Any) -> None:
    async with asyncio.timeout(10):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        async with asyncio.timeout(5):
            await task


def states(app: App) -> dict[str, str]:
    return app.backend.health().as_json()["engines"]  # type: ignore[no-any-return]


@pytest.mark.parametrize("stage", ["fetch", "encode", "prefill"])
async def test_closing_at_a_stage(app: App, images: list[ImageInput], stage: str) -> None:
    stream = app.backend.stream(ask("Compare", *images))
    async for event in stream:
        if isinstance(event, StageEvent) and event.stage == stage:
            break
    await stream.aclose()
    assert app.decoder.prompts == []
    assert len(app.encoder.encoded) == (2 if stage == "prefill" else 0)
    assert states(app) == {"vision": "ready", "language": "ready"}


async def test_closing_while_tokens_come_closes_the_decoders_generator(app: App) -> None:
    """The engine would go on to the last token for nobody."""
    stream = app.backend.stream(ask("Hello"))
    async for event in stream:
        if isinstance(event, TokenEvent):
            break
    assert app.decoder.closed == 0
    assert states(app)["language"] == "busy"
    await stream.aclose()
    assert app.decoder.closed == 1
    assert states(app)["language"] == "ready"


async def test_cancelling_while_encoding_cancels_every_encode(
    app: App, images: list[ImageInput]
) -> None:
    app.encoder.gate.clear()
    task = asyncio.create_task(app.events(ask("Compare", *images)))
    await until(lambda: app.encoder.waiting == 2)
    assert states(app)["vision"] == "busy"
    await cancel(task)
    assert app.encoder.cancelled == 2
    assert app.decoder.prompts == []
    assert states(app)["vision"] == "ready"


async def test_cancelling_while_decoding_closes_the_decoders_generator(app: App) -> None:
    app.decoder.gate.clear()
    task = asyncio.create_task(app.events(ask("Hello")))
    await until(lambda: app.decoder.prompts)
    await cancel(task)
    assert app.decoder.closed == 1


async def test_cancelling_while_the_engines_load(tokenizer: Any) -> None:
    app = App(tokenizer)
    app.loader.gate.clear()
    app.backend.start()
    task = asyncio.create_task(app.events(ask("Hello")))
    await until(lambda: app.loader.calls)
    await asyncio.sleep(0.02)
    await cancel(task)
    app.loader.gate.set()
    await app.backend.ready()
    assert (await app.answer(ask("Hello"))).text == "A red circle."
    await app.backend.shutdown()


async def test_one_cancelled_request_leaves_the_others_alone(
    app: App, images: list[ImageInput]
) -> None:
    app.decoder.gate.clear()
    first = asyncio.create_task(app.events(ask("One", images[0])))
    second = asyncio.create_task(app.events(ask("Two", images[0])))
    await until(lambda: len(app.decoder.prompts) == 2)
    await cancel(first)
    app.decoder.gate.set()
    assert shape(await second)[-1] == "done"


async def test_a_question_asked_while_loading_waits(tokenizer: Any) -> None:
    """And the seconds of loading are no part of the answer's."""
    app = App(tokenizer)
    app.loader.gate.clear()
    app.backend.start()
    asyncio.get_running_loop().call_later(1.5, app.loader.gate.set)
    events = await app.events(ask("Hello"))
    assert shape(events)[:3] == ["images", "waiting", "prefill"]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    assert done.result.timings.total_s < 1.2
    await app.backend.shutdown()


async def test_a_bad_image_is_told_while_the_engines_load(tokenizer: Any, tmp_path: Path) -> None:
    app = App(tokenizer)
    missing = ImageInput(str(tmp_path / "missing.png"), "path")
    with pytest.raises(InputError, match=r"missing\.png"):
        await app.events(ask("What is it?", missing))
    assert app.loader.calls == 0


async def test_engines_that_did_not_start_are_the_answer(tokenizer: Any) -> None:
    app = App(tokenizer)
    app.loader.failure = EngineError("The language engine did not start: no memory.")
    app.backend.start()
    for _ in range(2):
        with pytest.raises(EngineError, match="no memory"):
            await app.events(ask("Hello"))
    await app.backend.shutdown()


async def test_placing_and_previewing_need_no_engine(
    tokenizer: Any, images: list[ImageInput]
) -> None:
    app = App(tokenizer)
    entry = (await app.backend.place(images[0])).as_bucket_json(16384)
    assert set(entry) == {
        "source", "width", "height", "sha256", "cached", "notes", "bucket", "candidates", "why",
        "warnings", "ctx_len",
    }  # fmt: skip
    assert [set(candidate) for candidate in entry["candidates"]] == [
        {"height", "width", "compiled", "tokens", "effective_pixels", "wasted_pixels", "chosen"}
    ] * 3
    assert (await app.backend.preview(images[0], 16))[8:12] == b"WEBP"
    assert app.loader.calls == 0
