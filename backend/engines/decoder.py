"""LanguageDecoder over vLLM: fed with embeddings, or as a fused engine with pixels."""

from __future__ import annotations

import uuid
from collections.abc import AsyncGenerator, Sequence
from typing import Any, cast

from prometheus_client import CollectorRegistry
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.engine.async_llm import AsyncLLM

from backend.catalog.spec import ModelSpec
from backend.engines.chat_tokenizer import ChatTokenizer
from backend.engines.engine import VllmEngine
from backend.engines.faults import engine_faults
from backend.engines.handover import decoder_input
from backend.engines.lora import lora_request
from backend.engines.protocols import Chunk, PreparedImage
from backend.engines.seams import seams_of
from backend.prompts import Prompt, Tokenizer, tokens_with_placeholders
from backend.types import Embedding, FinishReason, Sampling


class VllmLanguageDecoder(VllmEngine):
    """Text and image rows in, tokens out; the engine has no vision tower."""

    name = "language decoder"

    def __init__(self, engine: AsyncLLM, spec: ModelSpec, registry: CollectorRegistry) -> None:
        super().__init__(engine, registry)
        self._spec = spec
        tokenizer = engine.get_tokenizer()
        self.tokenizer: Tokenizer = cast(Tokenizer, ChatTokenizer(tokenizer, engine.model_config))
        self._lora = lora_request(spec)
        self._seams = seams_of(spec, tokenizer)

    async def generate(
        self,
        prompt: Prompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        sampling: Sampling,
    ) -> AsyncGenerator[Chunk, None]:
        """The answer as it grows, one chunk or more a token.

        Closing the iterator aborts the request in the engine. Raises EngineError, InputError.
        """
        async with engine_faults(self.name):
            request = await self._input(prompt, images)
            request_id = f"generate-{uuid.uuid4().hex}"
            stream = self._engine.generate(
                request, sampling_params(sampling), request_id, lora_request=self._lora
            )
            tokens = 0
            try:
                async for output in stream:
                    completion = output.outputs[0]
                    tokens += len(completion.token_ids)
                    yield Chunk(
                        completion.text,
                        tokens,
                        len(output.prompt_token_ids or ()),
                        cast(FinishReason | None, completion.finish_reason),
                    )
            finally:
                await stream.aclose()

    async def _input(self, prompt: Prompt, images: Sequence[Any]) -> Any:
        return decoder_input(prompt, images, self._seams)


class VllmFusedEngine(VllmLanguageDecoder):
    """An ordinary vLLM engine: the same prompt, with pixels where the split has embeddings."""

    name = "engine"

    async def _input(self, prompt: Prompt, images: Sequence[Any]) -> Any:
        tokens = tokens_with_placeholders(prompt, self._spec, self.tokenizer)
        request: dict[str, Any] = {"prompt_token_ids": tokens}
        if images:
            request["multi_modal_data"] = {"image": [image.pixels for image in images]}
        (rendered,) = await self._engine.renderer.render_cmpl_async([request])
        return rendered


def sampling_params(sampling: Sampling) -> SamplingParams:
    """Bifocal's sampling as vLLM's, streaming deltas."""
    return SamplingParams(
        max_tokens=sampling.max_tokens,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        seed=sampling.seed,
        stop_token_ids=list(sampling.stop_token_ids),
        skip_special_tokens=sampling.skip_special_tokens,
        ignore_eos=sampling.ignore_eos,
        extra_args=dict(sampling.extra_args) if sampling.extra_args else None,
        output_kind=RequestOutputKind.DELTA,
    )
