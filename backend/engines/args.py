"""Plan to vLLM engine arguments; pure data, no vLLM needed.

Sources: the CPU and CUDA arguments follow what the split needs of stock vLLM (see ARCHITECTURE.md);
the QAIC arguments follow the public vllm-qaic plugin (v0.23.0), which reads `device_group` at the
top level of `additional_config` and the compiled sizes inside `override_qaic_config`.
"""

from __future__ import annotations

from typing import Any

from backend.catalog.lookup import model_path
from backend.engines.plugin import LANGUAGE_PREFIX, VISION_PREFIX, WORKER_EXTENSION
from backend.plan import Plan

EngineArgs = dict[str, Any]

NO_OTHER_MODALITIES = {"video": 0, "audio": 0}
MIB = 2**20
VISION_KV_BYTES = 64 * MIB
"""The vision engine has no language model; vLLM still wants a size for a KV cache it never uses."""


def engine_args(plan: Plan) -> dict[str, EngineArgs]:
    """Arguments by role: `vision` and `language`, or `fused`."""
    if plan.topology == "fused":
        return {"fused": fused_args(plan)}
    if plan.target == "qaic":
        return {"vision": _qaic_vision(plan), "language": _qaic_language(plan)}
    return {"vision": vision_args(plan), "language": language_args(plan)}


def vision_args(plan: Plan) -> EngineArgs:
    """The vision tower alone, as a pooling engine; one image a request, batched by vLLM."""
    largest = max(bucket.tokens for bucket in plan.buckets)
    return {
        **_common(plan),
        **_memory(plan, "vision"),
        "worker_extension_cls": WORKER_EXTENSION,
        "runner": "pooling",
        "mm_encoder_only": True,
        "skip_mm_profiling": True,
        "hf_overrides": {"architectures": [VISION_PREFIX + plan.spec.architecture]},
        "max_num_seqs": plan.vision_batch,
        "max_num_batched_tokens": max(plan.vision_batch * largest, 2048),
        "limit_mm_per_prompt": {"image": 1, **NO_OTHER_MODALITIES},
        "async_scheduling": False,
        "enable_prefix_caching": False,
    }


def language_args(plan: Plan) -> EngineArgs:
    """The language model alone, fed with image rows."""
    return {
        **_common(plan),
        **_memory(plan, "language"),
        **_optional(plan),
        **_prefill(plan),
        "worker_extension_cls": WORKER_EXTENSION,
        "hf_overrides": {"architectures": [LANGUAGE_PREFIX + plan.spec.architecture]},
        "max_num_seqs": plan.decode_batch,
        "limit_mm_per_prompt": {"image": 0, **NO_OTHER_MODALITIES},
        "enable_mm_embeds": True,
        "enable_prefix_caching": True,
    }


def fused_args(plan: Plan) -> EngineArgs:
    """One ordinary engine of the same model, for comparison and for models that cannot be split."""
    return {
        **_common(plan),
        **_memory(plan, "fused"),
        **_optional(plan),
        **_prefill(plan),
        "max_num_seqs": plan.decode_batch,
        "limit_mm_per_prompt": {"image": plan.max_images, **NO_OTHER_MODALITIES},
    }


def _common(plan: Plan) -> EngineArgs:
    return {
        "model": model_path(plan.spec),
        "max_model_len": plan.ctx_len,
        "seed": plan.seed,
        "load_format": plan.load_format,
        "tensor_parallel_size": plan.tensor_parallel_size,
        "trust_remote_code": plan.trust_remote_code,
        "mm_processor_cache_gb": 0,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        **plan.spec.engine_args,
    }


def _optional(plan: Plan) -> EngineArgs:
    """Decoder arguments that are only there when they are set."""
    values = {
        "long_prefill_token_threshold": plan.seq_len,
        "quantization": plan.quantization,
        "kv_cache_dtype": plan.kv_cache_dtype,
    }
    return {name: value for name, value in values.items() if value is not None}


def _prefill(plan: Plan) -> EngineArgs:
    """On the CPU a prompt is read in one step, however long.

    vLLM 0.32 ends the CPU engine when a request with a seed is read in parts (its worker rewinds
    the request's random generator, which torch cannot do on the CPU).
    """
    if plan.target != "cpu":
        return {}
    return {"enable_chunked_prefill": False, "max_num_batched_tokens": max(plan.ctx_len, 2048)}


def _memory(plan: Plan, role: str) -> EngineArgs:
    """How much memory an engine takes, and on the CPU that nothing is compiled.

    Eager mode needs no C++ compiler, and an explicit KV cache size skips memory profiling.
    """
    if plan.target == "cpu":
        kv_bytes = VISION_KV_BYTES if role == "vision" else plan.spec.cpu_kv_cache_mb * MIB
        return {"enforce_eager": True, "kv_cache_memory_bytes": kv_bytes}
    if role == "vision":
        return {"kv_cache_memory_bytes": VISION_KV_BYTES}
    shared = role == "language" and set(plan.vision_devices) & set(plan.language_devices)
    return {"gpu_memory_utilization": 0.75} if shared else {}


def _qaic(plan: Plan, devices: tuple[int, ...]) -> EngineArgs:
    return {
        "model": model_path(plan.spec),
        "max_model_len": plan.ctx_len,
        "long_prefill_token_threshold": plan.seq_len,
        "seed": plan.seed,
        "trust_remote_code": plan.trust_remote_code,
        "limit_mm_per_prompt": {"image": plan.max_images, **NO_OTHER_MODALITIES},
        "enable_mm_embeds": True,
        "enable_prefix_caching": False,
        "mm_processor_cache_gb": 0,
        "additional_config": {
            "device_group": list(devices),
            "override_qaic_config": {"height": list(plan.heights), "width": list(plan.widths)},
        },
    }


def _qaic_vision(plan: Plan) -> EngineArgs:
    return {
        **_qaic(plan, plan.vision_devices),
        "runner": "pooling",
        "max_num_seqs": plan.vision_batch,
        "async_scheduling": False,
    }


def _qaic_language(plan: Plan) -> EngineArgs:
    return {
        **_qaic(plan, plan.language_devices),
        "max_num_seqs": plan.decode_batch,
        "quantization": plan.quantization,
        "kv_cache_dtype": plan.kv_cache_dtype,
    }
