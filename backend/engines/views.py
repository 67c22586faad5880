"""A repair of vLLM's matrix product on the CPU, which refuses views with gaps in their rows.

transformers' own classes, which vLLM runs where it has none, hand it such views: HunyuanOCR's first
image would end the engine (vLLM 0.32).
"""

from __future__ import annotations

from typing import Any


def accept_views() -> None:
    """Make vLLM's product copy such a view first. Safe to call more than once."""
    from vllm.platforms import current_platform

    if not current_platform.is_cpu():
        return
    from vllm import _custom_ops as ops

    product = ops.onednn_mm
    if product.__module__ == __name__:
        return

    def onednn_mm(handler: Any, rows: Any, bias: Any) -> Any:
        return product(handler, rows.contiguous(), bias)

    ops.onednn_mm = onednn_mm
