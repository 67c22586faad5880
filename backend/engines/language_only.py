"""Any upstream vision-language model of vLLM without its vision tower, fed with the tower's rows.

The counterpart of `vision_only`: image rows arrive as the field `ROWS` of the multimodal input and
are returned by `embed_multimodal` as they are; everything else (merging them into the prompt,
M-RoPE from the grid, attention masks) is upstream's own code.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from vllm.config import VllmConfig

from backend.engines.census import count_parameters
from backend.engines.derive import on_demand
from backend.engines.plugin import LANGUAGE_PREFIX
from backend.engines.threads import use_threads

ROWS = "bifocal_rows"


def restore_deepstack(model: nn.Module, vllm_config: VllmConfig) -> None:
    """Undo Qwen3-VL's own switch-off of deepstack where the vision tower is missing."""
    config = vllm_config.model_config.hf_config
    levels = len(getattr(config.vision_config, "deepstack_visual_indexes", ()))
    if not levels or not hasattr(model, "use_deepstack"):
        return
    width = config.get_text_config().hidden_size
    tokens = vllm_config.scheduler_config.max_num_batched_tokens
    model.use_deepstack = True
    model.deepstack_num_level = levels
    model.visual_dim = width
    model.multiscale_dim = width * levels
    model.deepstack_input_embeds = [
        torch.zeros(tokens, width, dtype=vllm_config.model_config.dtype) for _ in range(levels)
    ]
    model.deepstack_input_embeds_num_tokens = 0


def language_only(upstream: type[nn.Module]) -> type[nn.Module]:
    """The language-only class of an upstream class."""
    base: Any = upstream

    class LanguageOnly(base):  # type: ignore[misc]
        def __init__(self, *, vllm_config: VllmConfig, prefix: str = "") -> None:
            use_threads(vllm_config)
            super().__init__(vllm_config=vllm_config, prefix=prefix)
            restore_deepstack(self, vllm_config)
            self.parameter_counts = count_parameters(self)

        def embed_multimodal(self, **kwargs: Any) -> list[torch.Tensor]:
            return list(kwargs[ROWS])

    return LanguageOnly


__getattr__ = on_demand(LANGUAGE_PREFIX, __name__, language_only)
