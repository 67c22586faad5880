"""vLLM without Bifocal, for comparison: one fused engine, or two engines and the hand-over alone.

Both take the same files, ask through the same chat template and answer with the same tokens; there
is no queue, no cache of ours, no check and no event beside what vLLM itself needs.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image
from vllm.inputs.engine import mm_input
from vllm.pooling_params import PoolingParams
from vllm.sampling_params import RequestOutputKind, SamplingParams
from vllm.v1.engine.async_llm import AsyncLLM

from backend.engines.args import EngineArgs, engine_args
from backend.engines.chat_tokenizer import ChatTokenizer
from backend.engines.ending import end_engine
from backend.engines.handover import RenderedImage, decoder_input
from backend.engines.loader import engine_config
from backend.engines.plugin import WORKER_EXTENSION
from backend.engines.seams import seams_of
from backend.engines.visible_devices import start_on
from backend.errors import EngineError
from backend.placement import Bucket
from backend.plan import Plan
from backend.prompts import Prompt, chat_prompt, image_token_ids, tokens_with_placeholders
from backend.types import Embedding, ImageInput, Turn


def unaided_args(plan: Plan, role: str) -> EngineArgs:
    """What Bifocal starts it with; a fused engine keeps vLLM's own caches at their defaults."""
    if role != "fused":
        return engine_args(plan)[role]
    args = engine_args(replace(plan, topology="fused"))["fused"]
    del args["mm_processor_cache_gb"]
    return {**args, "worker_extension_cls": WORKER_EXTENSION}


def unaided_config(plan: Plan, role: str) -> Any:
    """To be made one at a time. Raises EngineError."""
    return engine_config(plan, role, unaided_args(plan, role))


def start_unaided(devices: Sequence[int], plan: Plan, config: Any) -> AsyncLLM:
    """One engine with nothing around it: no counters, no look at its health. Blocking."""
    return start_on(
        plan, devices, lambda: AsyncLLM.from_vllm_config(config, disable_log_stats=True)
    )


class _Unaided:
    """A chat prompt for a question, and the tokens of the answer."""

    def __init__(self, plan: Plan, decoder: AsyncLLM) -> None:
        self._spec = plan.spec
        self._decoder = decoder
        self._tokenizer: Any = ChatTokenizer(decoder.get_tokenizer(), decoder.model_config)

    def _prompt(self, text: str, images: int) -> Prompt:
        turn = Turn("user", text, (ImageInput("", "path"),) * images)
        return chat_prompt([turn], self._spec, self._tokenizer)

    async def _generate(
        self, request: Any, tokens: int, heard: Callable[[], None]
    ) -> tuple[int, str]:
        """Calls `heard` with every piece; the number of tokens, and the text."""
        params = SamplingParams(
            max_tokens=tokens,
            temperature=0,
            ignore_eos=True,
            output_kind=RequestOutputKind.DELTA,
        )
        count, pieces = 0, []
        async for output in self._decoder.generate(request, params, uuid.uuid4().hex):
            heard()
            count += len(output.outputs[0].token_ids)
            pieces.append(output.outputs[0].text)
        return count, "".join(pieces)


class FusedEngine(_Unaided):
    """One AsyncLLM with the whole model."""

    async def answer(
        self, text: str, pictures: Sequence[Path], tokens: int, heard: Callable[[], None]
    ) -> tuple[int, str]:
        """Greedy, with exactly `tokens` tokens; `heard` is called when some have come."""
        images = await asyncio.gather(*(asyncio.to_thread(_read, path) for path in pictures))
        prompt = self._prompt(text, len(pictures))
        ids = tokens_with_placeholders(prompt, self._spec, self._tokenizer)
        request: dict[str, Any] = {"prompt_token_ids": ids}
        if images:
            request["multi_modal_data"] = {"image": images}
        (rendered,) = await self._decoder.renderer.render_cmpl_async([request])
        return await self._generate(rendered, tokens, heard)


class BareEngines(_Unaided):
    """Two AsyncLLM and the hand-over between them; rows of pictures seen before are kept."""

    def __init__(self, plan: Plan, encoder: AsyncLLM, decoder: AsyncLLM) -> None:
        super().__init__(plan, decoder)
        self._encoder = encoder
        self._seams = seams_of(plan.spec, decoder.get_tokenizer())
        self._seen: dict[Path, Embedding] = {}

    async def answer(
        self, text: str, pictures: Sequence[Path], tokens: int, heard: Callable[[], None]
    ) -> tuple[int, str]:
        """As `FusedEngine.answer`."""
        embeddings = await asyncio.gather(*map(self._embedding, pictures))
        prompt = self._prompt(text, len(pictures))
        request = decoder_input(prompt, embeddings, self._seams)
        return await self._generate(request, tokens, heard)

    async def _embedding(self, path: Path) -> Embedding:
        if path not in self._seen:
            self._seen[path] = await self._encode(path)
        return self._seen[path]

    async def _encode(self, path: Path) -> Embedding:
        digest = uuid.uuid4().hex
        image = {
            "prompt_token_ids": image_token_ids(self._spec, self._tokenizer),
            "multi_modal_data": {"image": [await asyncio.to_thread(_read, path)]},
            "multi_modal_uuids": {"image": [digest]},
        }
        (one,) = await self._encoder.renderer.render_cmpl_async([image])
        rendered = RenderedImage.of(one)
        kwargs: Any = {"image": [rendered.fields]}
        request = mm_input(
            list(rendered.tokens), kwargs, {"image": [digest]}, {"image": [rendered.place]}
        )
        params = PoolingParams(task="token_embed", use_activation=False)
        async for output in self._encoder.encode(request, params, digest):
            if output.finished:
                extras = {"rendered": rendered.without_pixels(), "digest": digest}
                return Embedding(
                    "", "", Bucket(0, 0, None, 0), output.outputs.data[:-1], extras, 0.0
                )
        raise EngineError("The vision encoder ended without an answer.")


def _read(path: Path) -> Image.Image:
    with Image.open(path) as opened:
        return opened.convert("RGB")


def end_unaided(engine: AsyncLLM) -> None:
    """Stop the engine. Blocking."""
    end_engine(engine)
