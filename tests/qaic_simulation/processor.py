"""Qwen2.5-VL's processor as the plugin has it: compiled sizes in, rows with an unknown grid out."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
from vllm.model_executor.models.qwen2_5_vl import (
    Qwen2_5_VLDummyInputsBuilder,
    Qwen2_5_VLForConditionalGeneration,
    Qwen2_5_VLMultiModalProcessor,
    Qwen2_5_VLProcessingInfo,
)
from vllm.model_executor.models.qwen2_vl import Qwen2VLMultiModalDataParser
from vllm.multimodal import MULTIMODAL_REGISTRY
from vllm.multimodal.parse import ImageSize

from tests.qaic_simulation.rules import CardError

UNKNOWN = [-1, -1, -1]


class SimulatedParser(Qwen2VLMultiModalDataParser):
    """`sizes` are the compiled ones in pixels, by their number of visual tokens."""

    def __init__(self, *args: Any, sizes: dict[int, tuple[int, int]], patch: int, **more: Any):
        self._sizes, self._patch = sizes, patch
        super().__init__(*args, **more)

    def _parse_image_data(self, data: Any) -> Any:
        if isinstance(data, dict):
            data = self._with_grid(data)
        elif isinstance(data, torch.Tensor) or (
            isinstance(data, list) and data and isinstance(data[0], torch.Tensor)
        ):
            raise CardError("Qwen's rows come as image_embeds with image_grid_thw")
        else:
            self._check_pictures(data if isinstance(data, list) else [data])
        return super()._parse_image_data(data)

    def _with_grid(self, data: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        rows, grid = data["image_embeds"], data["image_grid_thw"]
        if grid.tolist() != [UNKNOWN] * len(grid):
            raise CardError(f"the grid is found by the plugin: {grid.tolist()} is not {UNKNOWN}")
        rows = rows.reshape(-1, rows.shape[-1])
        tokens, rest = divmod(len(rows), len(grid))
        if rest or tokens not in self._sizes:
            raise CardError(
                f"{len(rows)} rows of {len(grid)} images are {tokens} an image, which match none "
                f"of the compiled sizes ({sorted(self._sizes)}): all images of a request must have "
                "the same one"
            )
        height, width = self._sizes[tokens]
        found = torch.tensor([[1, height // self._patch, width // self._patch]] * len(grid))
        return {"image_embeds": rows, "image_grid_thw": found}

    def _check_pictures(self, pictures: list[Any]) -> None:
        for picture in pictures:
            size = (picture.height, picture.width)
            if size not in self._sizes.values():
                raise CardError(
                    f"a picture of {size} is of no compiled size: {sorted(self._sizes.values())}"
                )


class SimulatedInfo(Qwen2_5_VLProcessingInfo):
    """Knows the compiled sizes."""

    @property
    def sizes(self) -> dict[int, tuple[int, int]]:
        return self.ctx.model_config.qaic_simulation_sizes

    def get_data_parser(self) -> SimulatedParser:
        vision = self.get_hf_config().vision_config
        return SimulatedParser(
            vision.spatial_merge_size, sizes=self.sizes, patch=vision.patch_size,
            video_needs_metadata=True,
        )  # fmt: skip

    def get_image_size_with_most_features(self, *_: Any, **__: Any) -> ImageSize:
        height, width = self.sizes[max(self.sizes)]
        return ImageSize(width=width, height=height)

    def get_mm_max_tokens_per_item(self, seq_len: int, mm_counts: Any) -> dict[str, int]:
        return {"image": max(self.sizes)}


@cache
def register_processor() -> None:
    """Once a process, instead of upstream's."""
    MULTIMODAL_REGISTRY.register_processor(
        Qwen2_5_VLMultiModalProcessor, info=SimulatedInfo, dummy_inputs=Qwen2_5_VLDummyInputsBuilder
    )(Qwen2_5_VLForConditionalGeneration)
