"""VisionEncoder over a vLLM pooling engine that holds the vision tower alone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

import torch
from prometheus_client import CollectorRegistry
from vllm.inputs.engine import mm_input
from vllm.pooling_params import PoolingParams
from vllm.v1.engine.async_llm import AsyncLLM

from backend.catalog.spec import ModelSpec
from backend.engines.engine import VllmEngine
from backend.engines.faults import engine_faults
from backend.engines.handover import RenderedImage, take_rows
from backend.engines.protocols import PreparedImage
from backend.errors import EngineError
from backend.prompts import image_token_ids
from backend.types import Embedding


class VllmVisionEncoder(VllmEngine):
    """One image a request; vLLM batches what arrives together."""

    name = "vision encoder"

    def __init__(self, engine: AsyncLLM, spec: ModelSpec, registry: CollectorRegistry) -> None:
        super().__init__(engine, registry)
        self._model = spec.key
        self._width: int = engine.model_config.get_hidden_size()
        self._placeholder: Sequence[int] = image_token_ids(spec, engine.get_tokenizer())

    async def encode(self, image: PreparedImage) -> Embedding:
        """One image's rows; `encode_s` is from the engine's side of the processor to its answer.

        Cancelling aborts the request in the engine. Raises EngineError.
        """
        async with engine_faults(self.name):
            started = time.perf_counter()
            rows, extras = await self._encode(image)
            return image.embedded(self._model, rows, time.perf_counter() - started, **extras)

    async def _encode(self, image: PreparedImage) -> tuple[torch.Tensor, dict[str, object]]:
        """Checked rows, [visual tokens, width], and what the decoder needs beside them."""
        rendered = await RenderedImage.render(self._engine.renderer, self._placeholder, image)
        kwargs: Any = {"image": [rendered.fields]}
        request = mm_input(
            list(rendered.tokens), kwargs, {"image": [image.digest]}, {"image": [rendered.place]}
        )
        answer = await self._pool(request, PoolingParams(task="token_embed", use_activation=False))
        rows = take_rows(answer, rendered.place, self._width)
        return rows, {"rendered": rendered.without_pixels()}

    async def _pool(self, request: Any, params: PoolingParams) -> torch.Tensor:
        """The engine's answer to a rendered request."""
        stream = self._engine.encode(request, params, f"encode-{uuid.uuid4().hex}")
        try:
            async for output in stream:
                if output.finished:
                    return output.outputs.data
        finally:
            # Unlike generate(), encode() does not abort when its iterator is dropped.
            await stream.aclose()
        raise EngineError("The vision encoder ended without an answer; try again.")
