"""Both encoders over a fake engine: what it is asked, and what becomes of its answer."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from PIL import Image
from prometheus_client import CollectorRegistry

from backend.engines.protocols import PreparedImage
from backend.errors import EngineError
from backend.placement import Bucket
from backend.plan import Plan

WIDTH, TOKENS = 4, 3
IMAGE = PreparedImage(Image.new("RGB", (8, 8)), "sha", Bucket(8, 8, None, TOKENS), "digest")


class Engine:
    """Answers `rows` once; None: it ends without an answer."""

    def __init__(self, tokenizer: Any, rows: torch.Tensor | None) -> None:
        self._tokenizer, self._rows = tokenizer, rows
        self.model_config = SimpleNamespace(get_hidden_size=lambda: WIDTH)
        self.engine_core = SimpleNamespace(resources=SimpleNamespace(engine_manager=None))
        self.renderer = self
        self.rendered: list[Any] = []
        self.tasks: list[str] = []
        self.closed = 0

    def get_tokenizer(self) -> Any:
        return self._tokenizer

    async def is_sleeping(self) -> bool:
        return False

    async def render_cmpl_async(self, prompts: list[Any]) -> list[Any]:
        from vllm.multimodal.inputs import MultiModalKwargsItem, PlaceholderRange

        self.rendered += prompts
        return [
            {
                "prompt_token_ids": [1] * TOKENS,
                "mm_placeholders": {"image": [PlaceholderRange(0, TOKENS)]},
                "mm_kwargs": {"image": [MultiModalKwargsItem({})]},
            }
        ]

    async def encode(self, request: Any, params: Any, request_id: str) -> AsyncGenerator[Any, None]:
        self.tasks.append(params.task)
        try:
            if self._rows is not None:
                yield SimpleNamespace(finished=True, outputs=SimpleNamespace(data=self._rows))
        finally:
            self.closed += 1


def encoder_over(engine: Engine, plan: Plan, kind: str) -> Any:
    from backend.engines.encoder import VllmVisionEncoder
    from backend.engines.qaic import QaicVisionEncoder

    kinds = {"split": VllmVisionEncoder, "qaic": QaicVisionEncoder}
    made: Any = engine
    return kinds[kind](made, plan.spec, CollectorRegistry())


@pytest.mark.parametrize(
    ("kind", "answered", "task", "pixels", "beside"),
    [
        # The split's pooler adds the sum of all rows; the plugin answers them as one block.
        ("split", (TOKENS + 1, WIDTH), "token_embed", [IMAGE.pixels], {"digest", "rendered"}),
        ("qaic", (1, TOKENS, WIDTH), "embed", IMAGE.pixels, {"digest"}),
    ],
)
async def test_an_image_becomes_its_rows(
    plan: Plan,
    tokenizer: Any,
    kind: str,
    answered: tuple[int, ...],
    task: str,
    pixels: Any,
    beside: set[str],
) -> None:
    engine = Engine(tokenizer, torch.ones(answered))
    embedding = await encoder_over(engine, plan, kind).encode(IMAGE)
    assert embedding.features.shape == (TOKENS, WIDTH)
    assert (embedding.model, embedding.sha256) == (plan.spec.key, "sha")
    assert embedding.bucket == IMAGE.bucket
    assert set(embedding.extras) == beside
    assert embedding.extras["digest"] == "digest"
    assert embedding.encode_s > 0
    assert (engine.tasks, engine.closed) == ([task], 1)
    (prompt,) = engine.rendered
    assert prompt["multi_modal_data"]["image"] == pixels
    assert "<|image_pad|>" in tokenizer.decode(prompt["prompt_token_ids"])


@pytest.mark.parametrize("kind", ["split", "qaic"])
async def test_rows_that_are_not_due_or_never_come(plan: Plan, tokenizer: Any, kind: str) -> None:
    short = encoder_over(Engine(tokenizer, torch.ones(1, WIDTH)), plan, kind)
    with pytest.raises(EngineError, match="answer was not generated"):
        await short.encode(IMAGE)
    silent = encoder_over(Engine(tokenizer, None), plan, kind)
    with pytest.raises(EngineError, match="ended without an answer"):
        await silent.encode(IMAGE)
