"""Tiny checkpoints of several families on real engines: the split answers as one engine does."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

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
from tests.engine.families.table import FAMILIES
from tests.engine.families.tiny import TEXT, WEIGHTS, TinyFamily

TOKENS = 12
RUN = [family for family in FAMILIES if family.engines]
pytestmark = pytest.mark.timeout(2 * LOADING_S)  # Three engines, one after the other.


@dataclass(frozen=True, slots=True)
class Pair:
    """One checkpoint, run both ways."""

    family: TinyFamily
    split: Bifocal
    fused: Bifocal

    async def ask(self, text: str, images: Sequence[ImageInput]) -> Result:
        """The answer of the split, which must be the fused engine's: each letter is a token."""
        request = question(text, images, max_tokens=TOKENS)
        halves, whole = await ask(self.split, request), await ask(self.fused, request)
        assert (halves.topology, whole.topology) == ("split", "fused")
        assert (halves.text, halves.usage) == (whole.text, whole.usage)
        assert len(halves.text) == halves.usage.completion_tokens == TOKENS
        return halves


@pytest_asyncio.fixture(scope="module", params=RUN, ids=lambda family: family.name)
async def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Pair]:
    """The family's checkpoint as two engines, and as one."""
    family: TinyFamily = request.param
    folder = tmp_path_factory.mktemp(family.name)
    family.build(folder)
    chosen = {"ctx_len": 1024, "dtype": "float32", **family.settings, "model": str(folder)}
    split = await started(**chosen)
    fused = await started(**chosen, topology="fused")
    yield Pair(family, split, fused)
    await asyncio.gather(split.shutdown(), fused.shutdown())


@pytest.fixture
def pictures(tmp_path: Path) -> list[ImageInput]:
    """Two pictures of other sizes and other content."""
    disc = Image.new("RGB", (96, 64), "white")
    ImageDraw.Draw(disc).ellipse((10, 10, 50, 50), fill="red")
    ramp = Image.linear_gradient("L").resize((120, 128)).convert("RGB")
    return [saved(tmp_path, "disc.png", disc), saved(tmp_path, "ramp.png", ramp)]


async def test_split_answers_as_the_fused_engine_does(
    pair: Pair, pictures: list[ImageInput]
) -> None:
    """No image, one, and two in either order; and each of these has an answer of its own."""
    chosen = [[], [0], [1], [0, 1], [1, 0]]
    answers = [await pair.ask("What is it?", [pictures[i] for i in some]) for some in chosen]
    texts = [answer.text for answer in answers]
    print(f"{pair.family.name}: {texts}, {[answer.usage.prompt_tokens for answer in answers]}")
    assert len(set(texts)) == len(chosen)
    assert pair.split.plan.spec.architecture == pair.family.architecture


async def test_typed_placeholder_is_text(pair: Pair, pictures: list[ImageInput]) -> None:
    """It takes the tokens of its letters and no image's place, and the engines live."""
    placeholder = pair.family.placeholder
    text = f"{placeholder} is {placeholder} here?"
    typed, plain = await pair.ask(text, pictures), await pair.ask("x", pictures)
    decoder = (await pair.split.ready()).decoder
    letters = PlainText(decoder.tokenizer).encode(text)
    assert typed.usage.prompt_tokens == plain.usage.prompt_tokens - 1 + len(letters)
    assert decoder.tokenizer.convert_tokens_to_ids(placeholder) not in letters
    assert pair.split.health().status == pair.fused.health().status == "ready"


async def test_each_engine_holds_its_half(pair: Pair) -> None:
    """Both together hold what the checkpoint does: no language model beside the tower, and no
    tower beside the language model. vLLM makes tables of words longer, by less than 64 words each.
    """
    engines = await pair.split.ready()
    assert engines.encoder is not None
    vision, language = await engines.encoder.parameters(), await engines.decoder.parameters()
    whole = checkpoint_parameters(Path(model_path(pair.split.plan.spec)))
    print(f"{pair.family.name}: vision {vision}, language {language}, checkpoint {whole}")
    longer = 2 * 64 * TEXT["hidden_size"]
    assert vision and language
    assert sum(vision.values()) + sum(language.values()) < whole + longer


def checkpoint_parameters(folder: Path) -> int:
    """Parameters in the weights, each once."""
    with safe_open(folder / WEIGHTS, "pt") as weights:
        names = list(weights.keys())
        return sum(math.prod(weights.get_slice(name).get_shape()) for name in names)
