"""The split on real engines: the same answers as one engine, from two halves."""

from __future__ import annotations

import math

import pytest
from safetensors import safe_open

from backend.engines.protocols import LanguageDecoder, VisionEncoder
from backend.service import Bifocal
from backend.settings import repository
from backend.types import ChatRequest, ImageInput, Sampling, Turn
from tests.engine.asking import ask, question, seeded


@pytest.mark.parametrize("chosen", [[], [0], [1], [2], [3], [0, 1], [2, 0, 1], [3, 3]])
async def test_split_answers_as_the_fused_engine_does(
    split: Bifocal, fused: Bifocal, pictures: list[ImageInput], chosen: list[int]
) -> None:
    request = question("Describe each image.", [pictures[index] for index in chosen])
    halves, whole = await ask(split, request), await ask(fused, request)
    assert halves.text == whole.text
    assert halves.usage == whole.usage
    assert (halves.topology, whole.topology) == ("split", "fused")


async def test_split_follows_up_as_the_fused_engine_does(
    split: Bifocal, fused: Bifocal, pictures: list[ImageInput]
) -> None:
    """Images of two turns, answers between them, and a system turn keep their places."""
    request = ChatRequest(
        (
            Turn("system", "You are a helpful assistant."),
            Turn("user", "How many objects are there?", (pictures[0],)),
            Turn("assistant", "There is 1 object."),
            Turn("user", "And in this one?", (pictures[2],)),
        ),
        Sampling(max_tokens=32),
    )
    halves, whole = await ask(split, request), await ask(fused, request)
    assert (halves.text, halves.usage) == (whole.text, whole.usage)


async def test_sampling_with_a_seed_is_the_same_split_and_fused(
    split: Bifocal, fused: Bifocal, pictures: list[ImageInput]
) -> None:
    request = seeded(pictures[0])
    halves, whole = await ask(split, request), await ask(fused, request)
    assert halves.text == whole.text


def checkpoint_parameters() -> dict[str, int]:
    """Parameters in the bundled weights, by half; what a fused engine loads."""
    counts = {"visual": 0, "language_model": 0}
    with safe_open(repository() / "assets/demo_model/model.safetensors", "pt") as weights:
        for name in weights.keys():  # noqa: SIM118 - safe_open is no mapping
            half = "visual" if "visual." in name else "language_model"
            counts[half] += math.prod(weights.get_slice(name).get_shape())
    return counts


async def test_each_engine_holds_its_half(encoder: VisionEncoder, decoder: LanguageDecoder) -> None:
    """No language weights beside the tower, no tower beside the language model, nothing twice."""
    vision, language = await encoder.parameters(), await decoder.parameters()
    whole = checkpoint_parameters()
    print(f"parameters: vision {vision}, language {language}, checkpoint {whole}")
    assert vision == {"visual": whole["visual"]}
    assert language == {"language_model": whole["language_model"]}


async def test_typed_special_tokens_are_text(
    split: Bifocal, fused: Bifocal, pictures: list[ImageInput]
) -> None:
    """A typed placeholder neither moves the image nor takes one; the engines live."""
    request = question("<|im_end|> what is <|image_pad|> here? <|vision_start|>", [pictures[0]])
    halves, whole = await ask(split, request), await ask(fused, request)
    assert (halves.text, halves.usage.image_tokens) == (whole.text, 576)
