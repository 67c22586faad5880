"""Every family that splits: the decoder's prompt is the one that upstream would build.

No engine is started; prompts go through the renderers that the engines have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image
from prometheus_client import CollectorRegistry

from backend.engines.args import engine_args
from backend.engines.protocols import PreparedImage
from backend.placement import Bucket
from backend.plan import Plan, make_plan
from backend.prompts import Prompt, chat_prompt, image_token_ids
from backend.settings import read_settings
from backend.types import ImageInput, Turn
from tests.engine.families.table import FAMILIES
from tests.engine.families.tiny import TinyFamily

SIZES = ((96, 64), (128, 128))


@dataclass(frozen=True, slots=True)
class Front:
    """What an engine has in this process: its renderer and its model's config."""

    renderer: Any
    model_config: Any

    @classmethod
    def of(cls, plan: Plan, role: str) -> Front:
        """The front of the engine that would be started."""
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.renderers.registry import renderer_from_config

        config = AsyncEngineArgs(**engine_args(plan)[role]).create_engine_config()
        return cls(renderer_from_config(config), config.model_config)

    def get_tokenizer(self) -> Any:
        return self.renderer.get_tokenizer()

    @property
    def engine_core(self) -> Any:
        """It has no processes."""
        return SimpleNamespace(resources=SimpleNamespace(engine_manager=None))

    async def is_sleeping(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Renderers:
    """One checkpoint's prompts, as the split and as one engine have them."""

    plan: Plan
    vision: Front
    fused: Front

    @classmethod
    def of(cls, family: TinyFamily, folder: Path) -> Renderers:
        family.build(folder)
        plan = make_plan(read_settings({"ctx_len": 1024, **family.settings, "model": str(folder)}))
        assert plan.topology == "split"
        fused = replace(plan, topology="fused")
        return cls(plan, Front.of(plan, "vision"), Front.of(fused, "fused"))

    async def of_split(self, prompt: Prompt, images: list[PreparedImage]) -> Any:
        """Each image rendered alone, then put into the prompt."""
        from backend.engines.handover import RenderedImage, decoder_input
        from backend.engines.seams import seams_of

        front: Any = self.vision
        tokenizer = front.get_tokenizer()
        placeholder = image_token_ids(self.plan.spec, tokenizer)
        embeddings = []
        for image in images:
            rendered = await RenderedImage.render(front.renderer, placeholder, image)
            rows = torch.zeros(rendered.place.get_num_embeds(), 1)
            embeddings.append(image.embedded("", rows, 0.0, rendered=rendered.without_pixels()))
        return decoder_input(prompt, embeddings, seams_of(self.plan.spec, tokenizer))

    async def of_fused(self, prompt: Prompt, images: list[PreparedImage]) -> Any:
        """Upstream's own."""
        from backend.engines.decoder import VllmFusedEngine

        front: Any = self.fused
        engine = VllmFusedEngine(front, self.plan.spec, CollectorRegistry())
        return await engine._input(prompt, images)

    def prompt(self, text: str, images: int) -> Prompt:
        from backend.engines.chat_tokenizer import ChatTokenizer

        tokenizer: Any = ChatTokenizer(self.vision.get_tokenizer(), self.vision.model_config)
        inputs = (ImageInput("", "upload"),) * images
        return chat_prompt([Turn("user", text, inputs)], self.plan.spec, tokenizer)


SPLIT = [family for family in FAMILIES if family.split]


@pytest.fixture(scope="module", params=SPLIT, ids=lambda family: family.name)
def renderers(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Renderers:
    return Renderers.of(request.param, tmp_path_factory.mktemp("family"))


@pytest.mark.parametrize("text", ["hi", "{image} is\n\n{image}"], ids=["plain", "placeholder"])
@pytest.mark.parametrize("count", [1, 2])
async def test_decoder_reads_the_prompt_that_upstream_builds(
    renderers: Renderers, text: str, count: int
) -> None:
    """The same tokens, and images at the same places."""
    drawn = [Image.linear_gradient("L").resize(size).convert("RGB") for size in SIZES[:count]]
    images = [
        PreparedImage(picture, str(picture.size), Bucket(1, 1, None, 0), str(picture.size))
        for picture in drawn
    ]
    prompt = renderers.prompt(text.format(image=renderers.plan.spec.image_token), count)
    halves = await renderers.of_split(prompt, images)
    whole = await renderers.of_fused(prompt, images)
    assert halves["prompt_token_ids"] == whole["prompt_token_ids"]
    assert places(halves) == places(whole)
    assert len(places(halves)) == count


async def test_a_family_that_looks_at_all_images_at_once_is_not_split(tmp_path: Path) -> None:
    """H2OVL cuts an image into tiles twice where it is alone, once where there are two; an image
    rendered alone would have too many tokens."""
    (family,) = (family for family in FAMILIES if family.name == "h2ovl_chat")
    family.build(tmp_path)
    plan = make_plan(read_settings({**family.settings, "model": str(tmp_path), "ctx_len": 1024}))
    assert plan.topology == "fused"
    renderers = Renderers(plan, front := Front.of(plan, "fused"), front)
    tall = Image.linear_gradient("L").resize((64, 192)).convert("RGB")
    images = [PreparedImage(tall, "a", Bucket(1, 1, None, 0), "a")] * 2
    alone = await renderers.of_fused(renderers.prompt("hi", 1), images[:1])
    both = await renderers.of_fused(renderers.prompt("hi", 2), images)
    lengths = [length for _, length, _ in places(both)]
    assert [length for _, length, _ in places(alone)] == [2 * lengths[0] - 2]
    assert lengths[0] == lengths[1]


def places(rendered: Any) -> list[Any]:
    """Where the images are, and which of their tokens take rows."""
    return [
        (place.offset, place.length, None if place.is_embed is None else place.is_embed.tolist())
        for place in rendered["mm_placeholders"]["image"]
    ]
