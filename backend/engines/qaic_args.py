"""Plan to vLLM engine arguments on QAIC; pure data, neither the plugin nor a card is needed.

Source: the public vllm-qaic plugin (v0.23.0). It reads `device_group` at the top level of
`additional_config`, one group an engine, and what is compiled inside `override_qaic_config`. Where
its documentation differs from its code, ARCHITECTURE.md says so and the code is followed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.buckets import DynamicResolution
from backend.catalog.arguments import (
    QAIC_EAGER_ARGUMENTS,
    common_arguments,
    decoder_arguments,
)
from backend.catalog.lookup import model_path
from backend.plan import Plan

EngineArgs = dict[str, Any]

VISIBLE_DEVICES = "QAIC_VISIBLE_DEVICES"
"""The variable that names an eager engine's devices. Ahead of time compiled engines must not see
it: the plugin lets it win over every engine's `device_group`."""
EAGER_SHARE = 0.9
"""Of its devices' memory an eager engine takes, as in the plugin's example and documents; vLLM's
own default is not the same in all versions."""


def qaic_args(plan: Plan) -> dict[str, EngineArgs]:
    """Arguments by role: `vision` and `language` compiled ahead of time, `fused` in eager mode."""
    if plan.qaic_mode == "eager":
        return {"fused": _eager(plan)}
    return {"vision": _vision(plan), "language": _language(plan)}


def serve_environment(plan: Plan) -> dict[str, str]:
    """Variables that `vllm serve` is to be started with, by name."""
    if not plan.eager_devices:
        return {}
    return {VISIBLE_DEVICES: ",".join(map(str, plan.eager_devices))}


def _vision(plan: Plan) -> EngineArgs:
    """The vision encoder, a pooling engine; nothing of it is quantized, as in the examples."""
    return {
        **_compiled(plan, plan.vision_devices),
        "runner": "pooling",
        "max_num_seqs": plan.vision_batch,
        "async_scheduling": False,
    }


def _language(plan: Plan) -> EngineArgs:
    """The language decoder, fed with embeddings."""
    return {
        **_compiled(plan, plan.language_devices),
        **decoder_arguments(plan.spec),
        "max_num_seqs": plan.decode_batch,
        "quantization": plan.quantization,
        "kv_cache_dtype": plan.kv_cache_dtype,
        "enable_mm_embeds": True,
    }


def _eager(plan: Plan) -> EngineArgs:
    """One engine on pixels. Its devices come through the environment: a `device_group` would end
    it, because the plugin writes the list into a variable as it is."""
    given = {
        "long_prefill_token_threshold": plan.seq_len,
        "quantization": plan.quantization,
        "kv_cache_dtype": plan.kv_cache_dtype,
    }
    return {
        **_common(plan, plan.spec.qaic.eager_processor),
        **{name: value for name, value in given.items() if value is not None},
        **decoder_arguments(plan.spec),
        "max_num_seqs": plan.decode_batch,
        "gpu_memory_utilization": EAGER_SHARE,
        **QAIC_EAGER_ARGUMENTS,
    }


def _compiled(plan: Plan, devices: tuple[int, ...]) -> EngineArgs:
    limits = _pixel_limits(plan)
    return {
        **_common(plan, {**plan.spec.qaic.aot_processor, **limits}),
        "long_prefill_token_threshold": plan.seq_len,
        "additional_config": {
            "device_group": list(devices),
            "override_qaic_config": {"split_model_io": True, **_sizes(plan, limits)},
        },
    }


def _common(plan: Plan, processor: Mapping[str, Any]) -> EngineArgs:
    """What every engine takes; printing `trust_remote_code` for a model that needs it runs nothing.

    `processor` is added to the row's own arguments of the multimodal processor.
    """
    spec = plan.spec
    optional = {
        "dtype": plan.dtype,
        "hf_overrides": dict(spec.hf_overrides),
        "mm_processor_kwargs": {**spec.mm_processor_kwargs, **processor},
    }
    return {
        "model": model_path(spec),
        "max_model_len": plan.ctx_len,
        "seed": plan.seed,
        "load_format": plan.load_format,
        "tensor_parallel_size": plan.tensor_parallel_size,
        "trust_remote_code": plan.trust_remote_code or spec.remote_code,
        "limit_mm_per_prompt": {"image": plan.max_images, "video": 0, "audio": 0},
        "enable_prefix_caching": False,
        "mm_processor_cache_gb": 0,
        **common_arguments(spec),
        **{name: value for name, value in optional.items() if value},
    }


def _pixel_limits(plan: Plan) -> EngineArgs:
    """The areas in pixels between which pictures and compiled sizes alike are snapped."""
    if not isinstance(plan.resolution, DynamicResolution):
        return {}
    least, most = plan.resolution.pixel_limits
    return {"min_pixels": least, "max_pixels": most}


def _sizes(plan: Plan, limits: EngineArgs) -> EngineArgs:
    """The sizes that a family with dynamic resolution is compiled for, in pixels, as pairs.

    The plugin snaps them with the limits that stand beside them; those at the top level reach the
    image processor alone.
    """
    if not plan.heights:
        return {}
    return {
        "height": list(plan.heights),
        "width": list(plan.widths),
        "mm_processor_kwargs": dict(limits),
    }
