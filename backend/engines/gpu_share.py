"""How the memory of GPUs that both engines are on is shared out; pure.

The encoder is small and needs no KV cache; what both engines' weights and work leave is the
decoder's KV cache. An explicit size is what lets both start side by side: vLLM would otherwise
measure the free memory while the other engine is taking some.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from backend.errors import EngineError

GIB: Final = 2**30
TOWER: Final = re.compile(
    r"visual|vision|vit\b|vpm|projector|mlp1|connector|aligner", re.IGNORECASE
)
"""Names of weights that a vision engine holds. A wrong guess moves memory between two engines of
one GPU, no more."""
ENCODER_WORK: Final = 3 * GIB
"""What a vision engine takes beside its weights: CUDA's context, activations, graphs. An engine of
Qwen2.5-VL-7B's tower took about 2 GB in all on an H200."""
DECODER_WORK: Final = 5 * GIB
"""The same of a decoder whose steps have at most 8,192 tokens."""
LEAVE: Final = 0.03
"""The share of a GPU that is left to others."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Bytes of both halves as the engines hold them, all devices together."""

    vision: int
    language: int

    @classmethod
    def of(cls, sizes: Mapping[str, int]) -> Weights:
        """From bytes by the weights' names."""
        vision = sum(size for name, size in sizes.items() if TOWER.search(name))
        return cls(vision, sum(sizes.values()) - vision)


def kv_cache_per_token(config: Mapping[str, Any], bytes_each: int) -> int:
    """Bytes of KV cache a token takes, from a model's config; 0 where it does not say."""
    text = config.get("text_config") or config.get("llm_config") or config
    heads = text.get("num_attention_heads") or 0
    width = text.get("head_dim") or (text.get("hidden_size") or 0) // max(heads, 1)
    kept = text.get("num_key_value_heads") or heads
    return int(2 * (text.get("num_hidden_layers") or 0) * kept * width * bytes_each)


def kv_cache_bytes(
    label: str, weights: Weights, memory: tuple[int, int], span: int, least: int
) -> int:
    """Bytes of the decoder's KV cache on each GPU.

    `memory` is what the smallest GPU has in all and free; the weights are spread over `span` GPUs;
    `least` is what one context takes there. Raises EngineError where that does not fit, with what
    would.
    """
    total, free = memory
    needed = (weights.vision + weights.language) // span + ENCODER_WORK + DECODER_WORK
    left = free - int(LEAVE * total) - needed
    if left >= max(least, 1):
        return left
    fitting = needed + least + int(LEAVE * total)
    raise EngineError(
        f"{label} does not fit beside its vision encoder on one GPU: both need about "
        f"{fitting / GIB:.0f} GiB ({(weights.vision + weights.language) / span / GIB:.1f} for "
        f"weights, {(ENCODER_WORK + DECODER_WORK) / GIB:.0f} to work with, {least / GIB:.1f} for "
        f"one context), and {free / GIB:.0f} of {total / GIB:.0f} GiB are free. Put the engines on "
        "GPUs of their own (--vision-devices 0 --language-devices 1), spread each over several "
        "(--tensor-parallel-size), shorten --ctx-len, or end other programs on that GPU."
    )
