"""The loader of the simulated card: takes the devices, and builds the half that the engine is."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import torch
from torch import nn
from vllm.model_executor.model_loader import register_model_loader
from vllm.model_executor.model_loader.default_loader import DefaultModelLoader
from vllm.model_executor.models.registry import ModelRegistry

from backend.engines.derive import on_demand
from backend.engines.vision_only import ImageRowsPooler, vision_only
from tests.qaic_simulation.board import take_devices
from tests.qaic_simulation.rules import device_group

ENCODER = "SimulatedQaicEncoder__"


class EmbedPooler(ImageRowsPooler):
    """Answers `embed` with one image's rows, [1, visual tokens, width]."""

    def get_supported_tasks(self) -> Set[Any]:
        return {"embed"}

    def forward(self, hidden_states: torch.Tensor, pooling_metadata: Any) -> list[Any]:
        found = super().forward(hidden_states, pooling_metadata)
        # The last row, the sum of the others, is Bifocal's own; a card knows nothing of it.
        return [None if rows is None else rows[:-1].unsqueeze(0) for rows in found]


def simulated_encoder(upstream: type[nn.Module]) -> type[nn.Module]:
    """The vision half of an upstream class, asked for as the plugin's is."""
    base: Any = vision_only(upstream)

    class SimulatedEncoder(base):
        def __init__(self, *, vllm_config: Any, prefix: str = "") -> None:
            super().__init__(vllm_config=vllm_config, prefix=prefix)
            self.pooler = EmbedPooler(self._kept)

    return SimulatedEncoder


__getattr__ = on_demand(ENCODER, __name__, simulated_encoder)


@register_model_loader("qaic_simulation")
class SimulatedLoader(DefaultModelLoader):
    """As vLLM's own, after the devices have been taken."""

    def __init__(self, load_config: Any) -> None:
        load_config.load_format = "auto"
        super().__init__(load_config)

    def load_model(self, vllm_config: Any, model_config: Any, prefix: str = "") -> nn.Module:
        take_devices(device_group(vllm_config.additional_config))
        if model_config.runner_type == "pooling":
            (architecture,) = model_config.hf_config.architectures
            name = ENCODER + architecture
            ModelRegistry.register_model(name, f"{__name__}:{name}")
            model_config.hf_config.architectures = [name]
            model_config.convert_type = "none"
        return super().load_model(vllm_config, model_config, prefix)
