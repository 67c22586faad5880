"""Each engine's queue: who needs the encoder waits for it, and nobody else does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from backend.types import ImageInput, Result

from .eventually import until
from .fakes import App, ask, picture_file


@pytest_asyncio.fixture
async def app(tokenizer: Any) -> AsyncIterator[App]:
    """An encoder that batches one image, a decoder of two answers."""
    made = await App(tokenizer, vision_batch=1, decode_batch=2).started()
    yield made
    made.encoder.gate.set()
    made.decoder.gate.set()
    await made.backend.shutdown()


@pytest.fixture
def colours(tmp_path: Path) -> list[ImageInput]:
    """Ten pictures."""
    return [picture_file(tmp_path, f"{n}.png", (n * 20, 0, 0)) for n in range(10)]


def begin(asking: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    return asyncio.create_task(asking)


async def test_a_question_without_a_new_picture_passes_those_that_are_encoded(
    app: App, colours: list[ImageInput]
) -> None:
    await app.answer(ask("seen before", colours[0]))
    app.encoder.gate.clear()
    waiting = [begin(app.answer(ask("new", colour))) for colour in colours[1:5]]
    await until(lambda: app.encoder.waiting == 3)
    assert (await app.answer(ask("again", colours[0]))).text == "A red circle."
    assert (await app.answer(ask("only text"))).text == "A red circle."
    assert not any(task.done() for task in waiting)
    app.encoder.gate.set()
    assert {result.text for result in await asyncio.gather(*waiting)} == {"A red circle."}


async def test_the_encoder_is_given_no_more_than_twice_its_batch(
    app: App, colours: list[ImageInput]
) -> None:
    app.encoder.gate.clear()
    tasks = [begin(app.answer(ask("new", colour))) for colour in colours[:4]]
    await until(lambda: "waiting 2" in gauges(app) and len(app.encoder.encoded) == 2)
    app.encoder.gate.set()
    await asyncio.gather(*tasks)
    assert len(app.encoder.encoded) == 4


async def test_pictures_of_one_question_are_encoded_together(
    app: App, colours: list[ImageInput]
) -> None:
    """Two questions of three pictures each: the second one's come after all of the first one's."""
    app.encoder.gate.clear()
    first = begin(app.answer(ask("three", *colours[:3])))
    await until(lambda: len(app.encoder.encoded) == 3)
    second = begin(app.answer(ask("three more", *colours[3:6])))
    await until(lambda: "waiting 1" in gauges(app))
    assert len(app.encoder.encoded) == 3
    app.encoder.gate.set()
    await asyncio.gather(first, second)
    assert len(app.encoder.encoded) == 6


async def test_encoded_pictures_wait_for_the_decoder_and_hold_their_place(
    app: App, colours: list[ImageInput]
) -> None:
    """Or all pictures of a long queue would be encoded, and their rows be held, at once."""
    app.decoder.gate.clear()
    tasks = [begin(app.answer(ask("new", colour))) for colour in colours[:6]]
    await until(lambda: len(app.decoder.prompts) == 2 and len(app.encoder.encoded) == 4)
    await until(lambda: "waiting 4" in gauges(app))
    assert len(app.encoder.encoded) == 4
    app.decoder.gate.set()
    await asyncio.gather(*tasks)


async def test_whoever_leaves_while_its_picture_is_encoded_makes_room(
    app: App, colours: list[ImageInput]
) -> None:
    app.encoder.gate.clear()
    tasks = [begin(app.answer(ask("new", colour))) for colour in colours[:3]]
    await until(lambda: app.encoder.waiting == 2)
    tasks[0].cancel()
    await until(lambda: len(app.encoder.encoded) == 3)
    app.encoder.gate.set()
    assert len([r for r in await asyncio.gather(*tasks[1:]) if r.text == "A red circle."]) == 2
    assert app.backend.answering == 0


def gauges(app: App) -> str:
    """The line of the metrics that tells how many wait."""
    lines = app.backend.metrics().splitlines()
    (line,) = (line for line in lines if line.startswith("bifocal_requests_waiting"))
    return f"waiting {float(line.split()[-1]):.0f}"
