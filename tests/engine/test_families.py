"""Tiny checkpoints of every family that can be built: the split answers as one engine does."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from PIL import Image, ImageDraw
from safetensors import safe_open

from backend.catalog.lookup import model_path
from backend.plain_text import PlainText
from backend.service import Bifocal
from backend.types import ImageInput, Result
from tests.engine.asking import ask, question, saved
from tests.engine.conftest import LOADING_S, started
from tests.engine.families.quick_start import quick_start
from tests.engine.families.table import FAMILIES
from tests.engine.families.tiny import TEXT, WEIGHTS, TinyFamily

TOKENS = 12
pytestmark = pytest.mark.timeout(2 * LOADING_S)  # Three engines, one after the other.


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """One checkpoint, run as two engines where it can be, and as one."""

    family: TinyFamily
    split: Bifocal | None
    fused: Bifocal

    async def ask(self, text: str, images: Sequence[ImageInput]) -> Result:
        """The fused engine's answer, which must be the split's as well: each letter is a token."""
        request = question(text, images, max_tokens=TOKENS)
        whole = await ask(self.fused, request)
        assert len(whole.text) == whole.usage.completion_tokens == TOKENS
        assert whole.topology == "fused"
        if self.split:
            halves = await ask(self.split, request)
            assert halves.topology == "split"
            assert (halves.text, halves.usage) == (whole.text, whole.usage)
        return whole


@pytest.fixture(scope="module", autouse=True)
def engines_start_quickly() -> Iterator[None]:
    with quick_start():
        yield


@pytest_asyncio.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
async def checkpoint(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Checkpoint]:
    """The family's checkpoint on its engines."""
    family: TinyFamily = request.param
    folder = tmp_path_factory.mktemp(family.name)
    family.build(folder)
    chosen = {"ctx_len": 1024, "dtype": "float32", **family.settings, "model": str(folder)}
    split = await started(**chosen) if family.split else None
    fused = await started(**chosen, topology="fused" if family.split else "split")
    yield Checkpoint(family, split, fused)
    await asyncio.gather(*(backend.shutdown() for backend in (split, fused) if backend))


@pytest.fixture
def pictures(tmp_path: Path) -> list[ImageInput]:
    """Two pictures of other sizes and other content."""
    disc = Image.new("RGB", (96, 64), "white")
    ImageDraw.Draw(disc).ellipse((10, 10, 50, 50), fill="red")
    ramp = Image.linear_gradient("L").resize((120, 128)).convert("RGB")
    return [saved(tmp_path, "disc.png", disc), saved(tmp_path, "ramp.png", ramp)]


async def test_each_question_has_the_same_answer_either_way(
    checkpoint: Checkpoint, pictures: list[ImageInput]
) -> None:
    """No image, one, and two in either order; and each of these has an answer of its own."""
    chosen = [[], [0], [1], [0, 1], [1, 0]]
    answers = [await checkpoint.ask("What is it?", [pictures[i] for i in some]) for some in chosen]
    texts = [answer.text for answer in answers]
    used = [answer.usage.prompt_tokens for answer in answers]
    print(f"{checkpoint.family.name}: {texts}, {used}")
    assert len(set(texts)) == len(chosen)
    assert checkpoint.fused.plan.spec.architecture == checkpoint.family.architecture


async def test_over_the_wire_it_is_the_same(
    checkpoint: Checkpoint, pictures: list[ImageInput], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The decoder is given what a remote one would read, whose places have no masks."""
    if checkpoint.split is None:
        return
    decoder: Any = (await checkpoint.split.ready()).decoder
    here = decoder._input

    async def there(prompt: Any, images: Any) -> Any:
        return as_read_there(await here(prompt, images))

    monkeypatch.setattr(decoder, "_input", there)
    for some in ([0], [1, 0]):
        await checkpoint.ask("Over the wire?", [pictures[i] for i in some])


def as_read_there(request: Any) -> Any:
    """A decoder's input as vLLM's server makes it of what was sent.

    Under other hashes, as nothing is to come from the engine's caches.
    """
    from vllm.entrypoints.scale_out.token_in_token_out.mm_features import mm_kwargs_from_features
    from vllm.entrypoints.scale_out.token_in_token_out.protocol import MultiModalFeatures
    from vllm.inputs import mm_input
    from vllm.multimodal.inputs import MultiModalKwargsItems, PlaceholderRange

    from backend.engines.wire import features

    sent = MultiModalFeatures.model_validate(json.loads(json.dumps(features(request))))
    kwargs: Any = MultiModalKwargsItems(mm_kwargs_from_features(sent))
    hashes = {"image": [f"{digest}-sent" for digest in sent.mm_hashes["image"]]}
    places = [PlaceholderRange(p.offset, p.length) for p in sent.mm_placeholders["image"]]
    return mm_input(list(request["prompt_token_ids"]), kwargs, hashes, {"image": places})


async def test_typed_placeholder_is_text(
    checkpoint: Checkpoint, pictures: list[ImageInput]
) -> None:
    """It takes the tokens of its letters and no image's place, and the engines live."""
    placeholder = checkpoint.family.placeholder
    text = f"{placeholder} is {placeholder} here?"
    typed, plain = await checkpoint.ask(text, pictures), await checkpoint.ask("x", pictures)
    tokenizer = (await checkpoint.fused.ready()).decoder.tokenizer
    letters = PlainText(tokenizer).encode(text)
    assert typed.usage.prompt_tokens == plain.usage.prompt_tokens - 1 + len(letters)
    assert tokenizer.convert_tokens_to_ids(placeholder) not in letters
    backends = [backend for backend in (checkpoint.split, checkpoint.fused) if backend]
    assert {backend.health().status for backend in backends} == {"ready"}


async def test_each_engine_holds_its_half(checkpoint: Checkpoint) -> None:
    """Both together hold what the checkpoint does: no language model beside the tower, and no
    tower beside the language model. vLLM makes tables of words longer, by less than 64 words each.

    A model without halves is one engine though nobody asked for that, and everyone is told.
    """
    if checkpoint.split is None:
        assert any("cannot be split" in note for note in checkpoint.fused.plan.notes)
        return
    engines = await checkpoint.split.ready()
    assert engines.encoder is not None
    vision, language = await engines.encoder.parameters(), await engines.decoder.parameters()
    whole = checkpoint_parameters(Path(model_path(checkpoint.split.plan.spec)))
    print(f"{checkpoint.family.name}: vision {vision}, language {language}, checkpoint {whole}")
    longer = 2 * 64 * TEXT["hidden_size"]
    assert vision and language
    assert sum(vision.values()) + sum(language.values()) < whole + longer


def checkpoint_parameters(folder: Path) -> int:
    """Parameters in the weights, each once."""
    with safe_open(folder / WEIGHTS, "pt") as weights:
        names = list(weights.keys())
        return sum(math.prod(weights.get_slice(name).get_shape()) for name in names)
