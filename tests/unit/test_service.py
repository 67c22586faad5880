"""The one path: a request to a stream of events, with engines that answer at once."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from backend.engines.protocols import PreparedImage
from backend.errors import EngineError, InputError
from backend.types import ChatRequest, ImageInput, Sampling, Turn

from .fakes import App, ask, picture_file, shape
from .pictures import BLUE, GREEN, RED


@pytest.fixture
def red(tmp_path: Path) -> ImageInput:
    return picture_file(tmp_path, "red.png", RED)


@pytest.fixture
def blue(tmp_path: Path) -> ImageInput:
    return picture_file(tmp_path, "blue.png", BLUE)


async def test_events_of_a_question_about_an_image(app: App, red: ImageInput) -> None:
    events = await app.events(ask("What is it?", red))
    assert shape(events) == [
        "fetch", "images", "encode", "prefill", "token", "token", "token", "done",
    ]  # fmt: skip


async def test_a_text_question_goes_to_the_decoder_alone(app: App) -> None:
    events = await app.events(ask("Hello"))
    assert shape(events) == ["images", "prefill", "token", "token", "token", "done"]
    assert app.encoder.encoded == []
    assert list(app.decoder.images[0]) == []


async def test_the_result_has_the_contracts_fields(app: App, red: ImageInput) -> None:
    result = (await app.answer(ask("What is it?", red))).as_json()
    assert set(result) >= {
        "text", "finish_reason", "model", "target", "topology", "method", "images", "usage",
        "timings",
    }  # fmt: skip
    assert set(result["images"][0]) == {
        "source", "width", "height", "sha256", "cached", "notes", "bucket",
    }  # fmt: skip
    assert result["images"][0]["bucket"] == {
        "height": 364,
        "width": 532,
        "compiled": [364, 532],
        "tokens": 247,
        "fit": "stretch",
        "aspect_change": 1.0962,  # (532 / 364) / (64 / 48)
    }
    assert set(result["usage"]) == {"prompt_tokens", "image_tokens", "completion_tokens"}
    assert set(result["timings"]) == {
        "fetch_s", "prepare_s", "queue_s", "encode_s", "ttft_s", "decode_s", "total_s",
    }  # fmt: skip


async def test_the_result_has_the_right_values(app: App, red: ImageInput) -> None:
    result = (await app.answer(ask("What is it?", red))).as_json()
    assert (result["text"], result["finish_reason"]) == ("A red circle.", "stop")
    assert (result["model"], result["target"]) == ("bifocal-demo", "cpu")
    assert (result["topology"], result["method"]) == ("split", "chat")
    assert result["usage"] == {"prompt_tokens": 50, "image_tokens": 247, "completion_tokens": 3}
    image = result["images"][0]
    assert (image["source"], image["width"], image["height"]) == ("red.png", 64, 48)
    assert (image["cached"], image["notes"]) == (False, [])


async def test_timings_are_of_the_stages(app: App, red: ImageInput) -> None:
    app.encoder.gate.clear()
    asyncio.get_running_loop().call_later(0.1, app.encoder.gate.set)
    timings = (await app.answer(ask("What is it?", red))).timings
    assert 0.05 < timings.encode_s <= timings.ttft_s <= timings.total_s < 5
    assert timings.fetch_s > 0
    assert timings.prepare_s > 0
    assert timings.ttft_s + timings.decode_s == pytest.approx(timings.total_s)


async def test_an_image_seen_before_is_not_encoded_again(app: App, red: ImageInput) -> None:
    await app.answer(ask("What is it?", red))
    events = await app.events(ask("And now?", red))
    assert "encode" not in shape(events)
    result = events[-1].result  # type: ignore[union-attr]
    assert result.images[0].cached
    assert result.timings.encode_s == 0
    assert len(app.encoder.encoded) == 1


async def test_the_same_picture_under_another_name_is_not_encoded_again(
    app: App, red: ImageInput, tmp_path: Path
) -> None:
    await app.answer(ask("What is it?", red))
    again = await app.answer(ask("And this?", picture_file(tmp_path, "other.png", RED)))
    assert again.images[0].cached
    assert again.images[0].source == "other.png"


async def test_another_fit_is_another_embedding(app: App, red: ImageInput) -> None:
    await app.answer(ask("What is it?", red))
    padded = await app.answer(ask("What is it?", red, fit="pad"))
    assert not padded.images[0].cached
    assert padded.images[0].placement.aspect_change == 1.0
    assert [image.pixels.getpixel((0, 0)) for image in app.encoder.encoded] == [
        RED,
        (127, 127, 127),
    ]


async def test_one_picture_twice_in_a_request_is_encoded_once(
    app: App, red: ImageInput, blue: ImageInput
) -> None:
    result = await app.answer(ask("Compare", red, blue, red))
    assert len(app.encoder.encoded) == 2
    given = [embedding.sha256 for embedding in app.decoder.images[0]]
    assert given == [image.sha256 for image in result.images]
    assert given[0] == given[2] != given[1]
    assert result.usage.image_tokens == 3 * 247


async def test_several_images_are_encoded_at_the_same_time(
    app: App, red: ImageInput, blue: ImageInput, tmp_path: Path
) -> None:
    """One after the other, the barrier would never open."""
    app.encoder.together = asyncio.Barrier(3)
    async with asyncio.timeout(10):
        await app.answer(ask("Compare", red, blue, picture_file(tmp_path, "green.png", GREEN)))


async def test_a_cache_of_nothing_encodes_each_time(tokenizer: Any, red: ImageInput) -> None:
    app = await App(tokenizer, embedding_cache_mb=0).started()
    for _ in range(2):
        result = await app.answer(ask("What is it?", red))
        assert not result.images[0].cached
    assert len(app.encoder.encoded) == 2


async def test_the_encoder_gets_exactly_the_buckets_size(app: App, tmp_path: Path) -> None:
    await app.answer(ask("What is it?", picture_file(tmp_path, "tall.png", RED, (364, 532))))
    assert app.encoder.encoded[0].pixels.size == (1288, 728)


async def test_sampling_reaches_the_decoder(app: App) -> None:
    sampling = Sampling(max_tokens=7, temperature=0.5, top_p=0.9, seed=3)
    await app.answer(ask("Hello", sampling=sampling))
    assert app.decoder.samplings == [sampling]


async def test_a_fused_engine_is_given_pixels(
    tokenizer: Any, red: ImageInput, blue: ImageInput
) -> None:
    app = await App(tokenizer, topology="fused").started()
    for _ in range(2):
        result = await app.answer(ask("Compare", red, blue, red))
        given = app.decoder.images[-1]
        assert all(isinstance(image, PreparedImage) for image in given)
        assert [image.pixels.getpixel((0, 0)) for image in given] == [RED, BLUE, RED]
        assert not any(image.cached for image in result.images)
    assert result.topology == "fused"
    assert result.timings.encode_s == 0


async def test_turns_left_out_are_noted_and_their_images_are_not_in_the_result(
    tokenizer: Any, red: ImageInput, blue: ImageInput
) -> None:
    """Context for one image of 247 tokens and some text, not for two."""
    app = await App(tokenizer, heights="364", widths="532", ctx_len=400).started()
    turns = (Turn("user", "One", (red,)), Turn("assistant", "Red."), Turn("user", "Two", (blue,)))
    result = await app.answer(ChatRequest(turns))
    assert [image.source for image in result.images] == ["blue.png"]
    assert [image.sha256 for image in app.encoder.encoded] == [result.images[0].sha256]
    assert "2 oldest messages" in result.as_json()["notes"][0]


async def test_requests_at_the_same_time_keep_their_own_images(
    app: App, red: ImageInput, blue: ImageInput
) -> None:
    results = await asyncio.gather(
        *(app.answer(ask(f"Question {n}", image)) for n, image in enumerate([red, blue] * 4))
    )
    assert [r.images[0].source for r in results] == ["red.png", "blue.png"] * 4
    for prompt, images in zip(app.decoder.prompts, app.decoder.images, strict=True):
        assert len(images) == sum(not isinstance(part, tuple) for part in prompt.parts) == 1


async def test_a_failing_encode_cancels_the_others_and_caches_nothing(
    app: App, red: ImageInput, blue: ImageInput
) -> None:
    app.encoder.fail_on = 2
    app.encoder.gate.clear()
    with pytest.raises(EngineError, match="vision encoder"):
        await app.events(ask("Compare", red, blue))
    assert app.encoder.cancelled == 1
    assert app.decoder.prompts == []
    app.encoder.fail_on = None
    app.encoder.gate.set()
    assert (await app.answer(ask("Again", red))).text == "A red circle."


async def test_a_decoder_that_fails_on_the_way(app: App) -> None:
    app.decoder.failure = EngineError("The language decoder stopped working.")
    with pytest.raises(EngineError, match="language decoder"):
        await app.events(ask("Hello"))
    assert app.decoder.closed == 1


async def test_a_bad_request_is_refused_before_anything(app: App) -> None:
    with pytest.raises(InputError) as caught:
        await app.events(ask("  "))
    assert caught.value.code == "bad_request"


async def test_one_bad_image_among_good_ones(app: App, red: ImageInput, tmp_path: Path) -> None:
    (tmp_path / "bad.png").write_text("no picture")
    with pytest.raises(InputError) as caught:
        await app.events(ask("Compare", red, ImageInput(str(tmp_path / "bad.png"), "path")))
    assert caught.value.code == "image_unreadable"
    assert "bad.png" in caught.value.message
    assert app.encoder.encoded == []
