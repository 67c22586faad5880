"""mxfp6, accepted and not done."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from vllm.model_executor.layers.quantization import register_quantization_config
from vllm.model_executor.layers.quantization.base_config import QuantizationConfig


class SimulatedMxfp6(QuantizationConfig):
    """Leaves every layer as it is."""

    def get_name(self) -> str:
        return "mxfp6"

    @classmethod
    def get_supported_act_dtypes(cls) -> list[torch.dtype]:
        return [torch.float16, torch.float32]

    @classmethod
    def get_min_capability(cls) -> int:
        return 0

    @staticmethod
    def get_config_filenames() -> list[str]:
        return []

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> SimulatedMxfp6:
        return cls()

    def get_quant_method(self, layer: torch.nn.Module, prefix: str) -> None:
        return None


@cache
def register_mxfp6() -> None:
    """Once a process."""
    register_quantization_config("mxfp6")(SimulatedMxfp6)
