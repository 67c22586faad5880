"""SimulatedQaicPlatform: the CPU, which checks what a QAIC card would be told."""

from __future__ import annotations

import logging
import os
from typing import Any

import torch
from vllm.platforms.cpu import CpuPlatform

from tests.qaic_simulation import MODE
from tests.qaic_simulation.rules import (
    DYNAMIC,
    CardError,
    check_aot,
    check_eager,
    snapped_sizes,
)

# vLLM's configs import the platform, so they are imported where they are used.

MIB = 2**20
CHECKED = "qaic_simulation_checked"
PLAYED = "qwen2_5_vl"
"""The one model type with compiled sizes whose processor is played."""

# Not one of vLLM's, which Bifocal keeps quiet.
logger = logging.getLogger("qaic_simulation")


class SimulatedQaicPlatform(CpuPlatform):
    """Says `cpu` of itself to vLLM's own code, so that all of that runs on the CPU."""

    supported_quantization: list[str] = ["mxfp6"]

    @property
    def supported_dtypes(self) -> list[torch.dtype]:
        return [torch.float16, torch.float32]

    @classmethod
    def pre_register_and_update(cls, parser: Any = None) -> None:
        """Make vLLM know mxfp6 and mxint8, as the plugin does in its way."""
        import vllm.engine.arg_utils as arg_utils

        from tests.qaic_simulation.quantization import register_mxfp6

        register_mxfp6()
        arg_utils.CacheConfig = cache_config

    @classmethod
    def check_and_update_config(cls, vllm_config: Any) -> None:
        if vllm_config.model_config is not None and CHECKED not in vllm_config.additional_config:
            logger.warning("This is a simulation of a QAIC card, on the CPU; no card is used")
            if os.environ[MODE] == "aot":
                check_aot(vllm_config)
                cls._compile(vllm_config)
            else:
                check_eager(vllm_config)
            cls._onto_the_cpu(vllm_config)
        super().check_and_update_config(vllm_config)

    @classmethod
    def _compile(cls, config: Any) -> None:
        """What stands for compiling: the halves are known, and the sizes."""
        from tests.qaic_simulation.processor import register_processor

        model, overrides = config.model_config, config.additional_config["override_qaic_config"]
        if model.hf_config.model_type in DYNAMIC:
            if model.hf_config.model_type != PLAYED:
                raise CardError(f"of the models with compiled sizes only {PLAYED} is simulated")
            model.qaic_simulation_sizes = snapped_sizes(overrides, model)
            register_processor()
        config.load_config.load_format = "qaic_simulation"

    @classmethod
    def _onto_the_cpu(cls, config: Any) -> None:
        """What was asked of a card, in the CPU's terms; prompts are read in one step."""
        from vllm.config import CompilationMode

        config.additional_config[CHECKED] = True
        model, scheduler = config.model_config, config.scheduler_config
        model.quantization = None
        model.enforce_eager = True
        config.quant_config = None
        model.multimodal_config.skip_mm_profiling = True
        config.compilation_config.mode = CompilationMode.NONE
        config.cache_config.kv_cache_memory_bytes = 256 * MIB
        scheduler.enable_chunked_prefill = False
        scheduler.long_prefill_token_threshold = 0
        scheduler.max_num_batched_tokens = max(model.max_model_len, 2048)
        scheduler.max_num_scheduled_tokens = None


def cache_config(**given: Any) -> Any:
    """A CacheConfig in the CPU's own type; what was asked for is kept for the rules."""
    from vllm.config.cache import CacheConfig

    asked = given.pop("cache_dtype", "auto")
    made = CacheConfig(cache_dtype="auto" if asked == "mxint8" else asked, **given)
    made.asked_dtype = asked
    return made
