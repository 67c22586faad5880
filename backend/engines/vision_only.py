"""Any upstream vision-language model of vLLM as a pooling model that is only its vision tower.

The engine runs the tower through vLLM's usual multimodal path; the "language model" is replaced by
handing the image's rows straight to the pooler, which returns them unchanged (no normalisation).
Rows are kept beside the runner's own buffer, so their width is free: Qwen3-VL's are
hidden size x (1 + deepstack levels).

The classes are made on demand, one per upstream architecture, by the module's `__getattr__`: vLLM
imports `backend.engines.vision_only:BifocalVision__X` in each process that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

import torch
from torch import nn
from vllm.config import VllmConfig
from vllm.model_executor.layers.pooler import Pooler
from vllm.model_executor.layers.vocab_parallel_embedding import ParallelLMHead
from vllm.model_executor.models.utils import StageMissingLayer
from vllm.tasks import PoolingTask
from vllm.v1.pool.metadata import PoolingMetadata

from backend.engines.census import count_parameters
from backend.engines.derive import on_demand
from backend.engines.plugin import VISION_PREFIX


class ImageRows:
    """The rows of one engine step: [tokens, width], and which tokens are image tokens."""

    def __init__(self) -> None:
        self.rows: torch.Tensor | None = None
        self.is_image: torch.Tensor | None = None

    def keep(self, embeddings: Sequence[torch.Tensor], is_image: torch.Tensor) -> None:
        """Lay the tower's rows out at their tokens' places."""
        rows = torch.cat(tuple(embeddings))
        self.is_image = is_image.to(rows.device)
        self.rows = rows.new_zeros(len(is_image), rows.shape[-1])
        self.rows[self.is_image] = rows

    def clear(self) -> None:
        """A step without images, as in vLLM's dummy runs."""
        self.rows = self.is_image = None


class ImageRowsPooler(Pooler):  # type: ignore[misc]
    """Answers `token_embed` with the image rows of each request, [visual tokens, width].

    A request that the scheduler spreads over several steps is collected in its pooling state.
    """

    def __init__(self, kept: ImageRows) -> None:
        super().__init__()
        self.kept = kept

    def get_supported_tasks(self) -> Set[PoolingTask]:
        return {"token_embed"}

    def forward(
        self, hidden_states: torch.Tensor, pooling_metadata: PoolingMetadata
    ) -> list[torch.Tensor | None]:
        cursor = pooling_metadata.get_pooling_cursor()
        sizes = cursor.num_scheduled_tokens_cpu.tolist()
        rows, is_image = self.kept.rows, self.kept.is_image
        if rows is None or is_image is None:
            rows = hidden_states
            is_image = torch.zeros(len(rows), dtype=torch.bool, device=rows.device)
        outputs: list[torch.Tensor | None] = []
        for state, part, mask, finished in zip(
            pooling_metadata.pooling_states,
            rows[: sum(sizes)].split(sizes),
            is_image[: sum(sizes)].split(sizes),
            cursor.is_finished().tolist(),
            strict=True,
        ):
            state.hidden_states_cache.append(part[mask])
            outputs.append(torch.cat(state.hidden_states_cache) if finished else None)
            if finished:
                state.clean()
        return outputs


def drop_language_attention(vllm_config: VllmConfig, model: nn.Module) -> None:
    """Forget attention layers that are not the tower's, or the engine allocates a KV cache."""
    towers = tuple(f"{name}." for name in getattr(model, "_tower_model_names", ()))
    context = vllm_config.compilation_config.static_forward_context
    for name in [name for name in context if not name.startswith(towers or "\0")]:
        del context[name]


def drop_output_heads(model: nn.Module) -> None:
    """Replace an output head that upstream keeps outside its language model (Idefics3)."""
    heads = [name for name, child in model.named_children() if isinstance(child, ParallelLMHead)]
    for name in heads:
        setattr(model, name, StageMissingLayer("language_model", getattr(model, name)))


def vision_only(upstream: type[nn.Module]) -> type[nn.Module]:
    """The vision-only class of an upstream class; its processor registration is inherited."""
    base: Any = upstream

    class VisionOnly(base):  # type: ignore[misc]
        is_pooling_model = True

        def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
            super().__init__(vllm_config=vllm_config, prefix=prefix)
            drop_output_heads(self)
            drop_language_attention(vllm_config, self)
            self.parameter_counts = count_parameters(self)
            self._hidden_size = vllm_config.model_config.get_hidden_size()
            self._kept = ImageRows()
            self.pooler = ImageRowsPooler(self._kept)

        def embed_input_ids(
            self,
            input_ids: torch.Tensor,
            multimodal_embeddings: Sequence[torch.Tensor] | None = None,
            *,
            is_multimodal: torch.Tensor | None = None,
            **_: Any,
        ) -> torch.Tensor:
            if multimodal_embeddings is not None and len(multimodal_embeddings):
                assert is_multimodal is not None
                self._kept.keep(multimodal_embeddings, is_multimodal)
            else:
                self._kept.clear()
            dtype = next(self.parameters()).dtype
            return torch.zeros(
                len(input_ids), self._hidden_size, dtype=dtype, device=input_ids.device
            )

        def forward(
            self,
            input_ids: torch.Tensor | None,
            positions: torch.Tensor,
            intermediate_tensors: Any = None,
            inputs_embeds: torch.Tensor | None = None,
            **_: Any,
        ) -> torch.Tensor:
            assert inputs_embeds is not None
            return inputs_embeds

    return VisionOnly


__getattr__ = on_demand(VISION_PREFIX, __name__, vision_only)
