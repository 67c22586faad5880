"""TargetDefaults: what a target adds where neither the settings nor the row say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Target = Literal["cpu", "cuda", "qaic"]


@dataclass(frozen=True, slots=True)
class TargetDefaults:
    """Prefill and context length in tokens, `max_num_seqs` of both engines, the decoder's types."""

    seq_len: int | None = None
    ctx_len: int | None = None
    batch: int | None = None
    quantization: str | None = None
    kv_cache_dtype: str | None = None


TARGETS: dict[Target, TargetDefaults] = {
    "cpu": TargetDefaults(),
    "cuda": TargetDefaults(),
    "qaic": TargetDefaults(128, 4096, 4, "mxfp6", "mxint8"),
}

QAIC_EAGER = TargetDefaults(ctx_len=4096, batch=4)
"""QAIC's eager mode compiles nothing, neither a prefill length nor smaller number types."""
