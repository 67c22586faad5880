"""vLLM's matrix product on the CPU takes what transformers' own classes hand it; no engine here."""

from __future__ import annotations

import torch
from vllm import _custom_ops as ops

from backend.engines.views import accept_views


def test_a_view_with_gaps_is_multiplied() -> None:
    """As HunyuanOCR's image rows are, which ended the engine."""
    weight = torch.randn(64, 32)
    rows = torch.randn(1, 32, 10).permute(0, 2, 1)
    accept_views()
    accept_views()
    handler = ops.create_onednn_mm(weight.t(), 32)
    assert torch.allclose(ops.onednn_mm(handler, rows, None), rows @ weight.t(), atol=1e-4)
