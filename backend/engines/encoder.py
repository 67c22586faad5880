"""VisionEncoder over a vLLM pooling engine that holds the vision tower alone."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

import torch
from prometheus_client import CollectorRegistry
from vllm.inputs.engine import MultiModalInput, mm_input
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
            rendered = await self._render(image)
            answer = await self._pool(rendered, image.digest)
            rows = take_rows(answer, rendered.place, self._width)
            return Embedding(
                model=self._model,
                sha256=image.sha256,
                bucket=image.bucket,
                features=rows,
                extras={"rendered": rendered.without_pixels(), "digest": image.digest},
                encode_s=time.perf_counter() - started,
            )

    async def _render(self, image: PreparedImage) -> RenderedImage:
        prompt = {
            "prompt_token_ids": list(self._placeholder),
            "multi_modal_data": {"image": [image.pixels]},
            "multi_modal_uuids": {"image": [image.digest]},
        }
        (rendered,) = await self._engine.renderer.render_cmpl_async([prompt])
        result: MultiModalInput = rendered
        return RenderedImage.of(result)

    async def _pool(self, image: RenderedImage, digest: str) -> torch.Tensor:
        kwargs: Any = {"image": [image.fields]}
        request = mm_input(
            list(image.tokens), kwargs, {"image": [digest]}, {"image": [image.place]}
        )
        request_id = f"encode-{uuid.uuid4().hex}"
        params = PoolingParams(task="token_embed", use_activation=False)
        stream = self._engine.encode(request, params, request_id)
        try:
            async for output in stream:
                if output.finished:
                    return output.outputs.data
        finally:
            # Unlike generate(), encode() does not abort when its iterator is dropped.
            await stream.aclose()
        raise EngineError("The vision encoder ended without an answer; try again.")
