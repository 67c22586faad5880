"""Vision encoder and language decoder on QAIC cards, as the vllm-qaic plugin takes them.

There the plugin is the split: it compiles each half by itself and has its own image processor, so
none of Bifocal's classes run in its engines. Pictures go in as pixels, rows come out of `embed`,
and the decoder takes them as upstream's own embedding input (read: vllm-qaic v0.23.0,
`model_loader/qaic_multimodal.py`, `qaic_custom_mm_processor.py` and the examples).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from vllm.pooling_params import PoolingParams

from backend.engines.decoder import VllmFusedEngine, VllmLanguageDecoder
from backend.engines.encoder import VllmVisionEncoder
from backend.engines.handover import check_rows
from backend.engines.protocols import PreparedImage
from backend.prompts import Prompt, tokens_with_placeholders

UNKNOWN_GRID = [-1, -1, -1]
"""Stands for an image's grid, which the plugin finds by the number of its rows."""


class NoCensus:
    """The plugin's workers do not count what they hold, which is compiled."""

    async def parameters(self) -> dict[str, int]:
        return {}


class QaicVisionEncoder(NoCensus, VllmVisionEncoder):
    """One image a request: the cards encode one at a time, and each is kept by itself."""

    async def _encode(self, image: PreparedImage) -> tuple[torch.Tensor, dict[str, object]]:
        """The picture has a compiled size already, which the plugin's processor leaves alone."""
        prompt: Any = {
            "prompt_token_ids": list(self._placeholder),
            "multi_modal_data": {"image": image.pixels},
        }
        (rendered,) = await self._engine.renderer.render_cmpl_async([prompt])
        answer = await self._pool(rendered, PoolingParams(task="embed"))
        rows = answer.reshape(-1, answer.shape[-1])
        check_rows(rows, image.bucket.tokens or None, self._width)
        return rows, {}


class QaicLanguageDecoder(NoCensus, VllmLanguageDecoder):
    """Text, and all images of a request as one block of rows."""

    async def _input(self, prompt: Prompt, images: Sequence[Any]) -> Any:
        tokens = tokens_with_placeholders(prompt, self._spec, self.tokenizer)
        request: dict[str, Any] = {"prompt_token_ids": tokens}
        if images:
            rows = [embedding.features for embedding in images]
            request["multi_modal_data"] = {"image": block(rows, self._spec.qaic.takes_grid)}
        (rendered,) = await self._engine.renderer.render_cmpl_async([request])
        return rendered


class QaicEagerEngine(NoCensus, VllmFusedEngine):
    """One engine on pixels; nothing is compiled."""


def block(rows: Sequence[torch.Tensor], takes_grid: bool) -> Any:
    """The rows of a request's images as the plugin's decoder parses them.

    Families with dynamic resolution take [all rows, width] with a grid an image, here unknown;
    others a bare [images, rows, width], or a list where their images have different numbers of
    rows, as InternVL's tiles may have.
    """
    if takes_grid:
        return {
            "image_embeds": torch.cat(tuple(rows)),
            "image_grid_thw": torch.tensor([UNKNOWN_GRID] * len(rows)),
        }
    if len({len(image) for image in rows}) > 1:
        return list(rows)
    return torch.stack(tuple(rows))
