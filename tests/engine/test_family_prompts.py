"""Every family with a tiny checkpoint: the decoder's prompt is the one that upstream would build.

No engine is started; prompts go through the renderers that the engines have.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from backend.engines.args import engine_args
from backend.engines.protocols import PreparedImage
from backend.plan import Plan, make_plan
from backend.prompts import Prompt, chat_prompt
from backend.settings import read_settings
from backend.types import Bucket, Embedding, ImageInput, Turn
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
        from backend.engines.encoder import VllmVisionEncoder
        from backend.engines.handover import decoder_input
        from backend.engines.seams import seams_of

        front: Any = self.vision
        encoder = VllmVisionEncoder(front, self.plan.spec)
        embeddings = []
        for image in images:
            rendered = await encoder._render(image)
            rows = torch.zeros(rendered.place.get_num_embeds(), 1)
            extras = {"rendered": rendered.without_pixels(), "digest": image.digest}
            embeddings.append(Embedding("", image.sha256, image.bucket, rows, extras, 0.0))
        return decoder_input(prompt, embeddings, seams_of(self.plan.spec, front.get_tokenizer()))

    async def of_fused(self, prompt: Prompt, images: list[PreparedImage]) -> Any:
        """Upstream's own."""
        from backend.engines.decoder import VllmFusedEngine

        front: Any = self.fused
        return await VllmFusedEngine(front, self.plan.spec)._input(prompt, images)

    def prompt(self, text: str, images: int) -> Prompt:
        from backend.engines.chat_tokenizer import ChatTokenizer

        tokenizer: Any = ChatTokenizer(self.vision.get_tokenizer(), self.vision.model_config)
        inputs = (ImageInput("", "upload"),) * images
        return chat_prompt([Turn("user", text, inputs)], self.plan.spec, tokenizer)


@pytest.fixture(scope="module", params=FAMILIES, ids=lambda family: family.name)
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


def places(rendered: Any) -> list[Any]:
    """Where the images are, and which of their tokens take rows."""
    return [
        (place.offset, place.length, None if place.is_embed is None else place.is_embed.tolist())
        for place in rendered["mm_placeholders"]["image"]
    ]
