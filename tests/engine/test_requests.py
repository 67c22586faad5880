"""Requests good, bad and broken off, on real engines that must stay up."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from backend.engines.protocols import LanguageDecoder, VisionEncoder
from backend.errors import InputError
from backend.service import Bifocal
from backend.types import ChatRequest, ImageInput, Sampling, TokenEvent, Turn
from tests.engine.asking import ask, question, saved


def drawn(colour: str, size: tuple[int, int] = (640, 480)) -> Image.Image:
    """A picture that no other test has drawn, so that nothing has it cached."""
    picture = Image.new("RGB", size, "white")
    ImageDraw.Draw(picture).regular_polygon((200, 200, 90), 6, fill=colour)
    return picture


async def test_a_seen_picture_is_not_encoded_again(split: Bifocal, tmp_path: Path) -> None:
    """Also when it comes as another file in another format: the pixels are what counts."""
    picture = drawn("teal")
    first = await ask(split, question("Describe.", [saved(tmp_path, "a.png", picture)]))
    again = await ask(split, question("Describe.", [saved(tmp_path, "b.bmp", picture)]))
    assert not first.images[0].cached
    assert first.timings.encode_s > 0
    assert again.images[0].cached
    assert again.timings.encode_s == 0
    assert again.text == first.text


async def test_text_only_goes_to_the_decoder_alone(split: Bifocal) -> None:
    result = await ask(split, question("Hello"))
    assert result.images == ()
    assert result.usage.image_tokens == 0
    assert result.timings.encode_s == 0
    assert result.usage.completion_tokens > 0


async def test_an_answer_cut_short_says_so(split: Bifocal, tmp_path: Path) -> None:
    image = saved(tmp_path, "a.png", drawn("navy"))
    result = await ask(split, question("Describe.", [image], max_tokens=2))
    assert result.finish_reason == "length"
    assert result.usage.completion_tokens == 2


async def test_closing_the_stream_aborts_in_the_decoder(
    split: Bifocal, decoder: LanguageDecoder
) -> None:
    request = ChatRequest(
        (Turn("user", "Hello"),), Sampling(max_tokens=8000, temperature=2.0, seed=1)
    )
    async with aclosing(split.stream(request)) as events:
        async for event in events:
            if isinstance(event, TokenEvent):
                assert decoder.unfinished == 1
                break
    assert decoder.unfinished == 0
    assert (await ask(split, question("Hello"))).text


async def test_cancelling_aborts_in_the_encoder(
    split: Bifocal, encoder: VisionEncoder, decoder: LanguageDecoder, tmp_path: Path
) -> None:
    """`AsyncLLM.encode` does not abort by itself when its iterator is dropped."""
    images = [saved(tmp_path, f"{n}.png", drawn("gold", (1920, 1080 + n))) for n in range(4)]
    task = asyncio.create_task(ask(split, question("Describe.", images)))
    async with asyncio.timeout(30):
        while not encoder.unfinished:  # noqa: ASYNC110 - an engine's counter has no event
            await asyncio.sleep(0.005)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert encoder.unfinished == decoder.unfinished == 0
    assert (await ask(split, question("Describe.", images[:1]))).usage.image_tokens == 1196


async def test_requests_run_side_by_side(split: Bifocal, tmp_path: Path) -> None:
    """Each caller gets the answer to its own picture."""
    colours = ("red", "lime", "blue", "black")
    requests = [
        question("Describe.", [saved(tmp_path, f"{colour}.png", drawn(colour))])
        for colour in colours
    ]
    together = await asyncio.gather(*(ask(split, request) for request in requests))
    alone = [await ask(split, request) for request in requests]
    assert [result.text for result in together] == [result.text for result in alone]


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (question("  "), "bad_request"),
        (question("word " * 20000), "prompt_too_long"),
        (question("Describe.", [ImageInput("none.png", "upload", "none.png")]), "image_unreadable"),
        (question("Describe.", [ImageInput("http://[::1]/a.png", "url")]), "url_refused"),
        (question("Describe.", [ImageInput("a.png", "upload")] * 9), "too_many_images"),
        (question("Describe.", max_tokens=0), "bad_request"),
    ],
    ids=["empty", "too long", "missing", "private", "too many", "no tokens"],
)
async def test_a_bad_request_is_refused_and_the_engines_answer_the_next(
    split: Bifocal, request_: ChatRequest, code: str
) -> None:
    with pytest.raises(InputError) as refused:
        await ask(split, request_)
    assert refused.value.code == code
    assert (await ask(split, question("Hello"))).text
    assert split.health().status == "ready"


async def test_a_seeded_prompt_longer_than_a_prefill_step_is_answered(
    split: Bifocal, tmp_path: Path
) -> None:
    """vLLM's CPU worker dies when a request with its own generator is prefilled in parts."""
    images = [saved(tmp_path, f"{n}.png", drawn("plum", (1920, 1080 + n))) for n in range(3)]
    turn = Turn("user", "Describe.", tuple(images))
    seeded = ChatRequest((turn,), Sampling(max_tokens=8, temperature=1.0, seed=5))
    together = await asyncio.gather(*(ask(split, seeded) for _ in range(4)))
    assert {result.usage.prompt_tokens > 3 * 1196 for result in together} == {True}
    assert len({result.text for result in together}) == 1
