"""Plan to vLLM engine arguments; pure data, no vLLM needed.

The arguments follow what the split needs of stock vLLM (see ARCHITECTURE.md); those for QAIC are in
`backend.engines.qaic_args`.
"""

from __future__ import annotations

from typing import Any

from backend.catalog.arguments import common_arguments, decoder_arguments
from backend.catalog.lookup import model_path
from backend.engines.plugin import (
    DECODER_WORKER,
    LANGUAGE_PREFIX,
    NICE,
    THREADS,
    VISION_PREFIX,
    WORKER_EXTENSION,
)
from backend.engines.qaic_args import qaic_args
from backend.plan import LEAST_STEP, Plan

EngineArgs = dict[str, Any]

NO_OTHER_MODALITIES = {"video": 0, "audio": 0}
MIB = 2**20
DECODER_NICE = 8
"""A sixth of the weight of a process that gives way to nobody; chosen by `bench`, see
ARCHITECTURE.md ("Threads and priorities")."""
LEAST_SHARE = 0.01
"""The share of a GPU's memory that must be free for an engine whose sizes are all explicit."""
RENDERERS = 4
"""Threads that make images ready for a vision engine on a GPU."""
SHARED = 0.75
"""The decoder's share of a GPU with both engines, where nothing better is known."""
VISION_KV_BYTES = 64 * MIB
"""The vision engine has no language model; vLLM still wants a size for a KV cache it never uses."""


def engine_args(plan: Plan) -> dict[str, EngineArgs]:
    """Arguments by role: `vision` and `language`, or `fused`."""
    if plan.target == "qaic":
        return qaic_args(plan)
    if plan.topology == "fused":
        return {"fused": fused_args(plan)}
    return {"vision": vision_args(plan), "language": language_args(plan)}


def vision_args(plan: Plan) -> EngineArgs:
    """The vision tower alone, as a pooling engine; one image a request, batched by vLLM."""
    largest = max((bucket.tokens for bucket in plan.buckets), default=0)
    step = plan.vision_batch * largest
    if not plan.heights or not plan.resolution.has_buckets:
        # Families of their own sizes write more tokens into a prompt than an image has rows, such
        # as one between two tiles; a single image must fit, too.
        step = max(step, plan.ctx_len)
    return {
        **_common(plan),
        **_memory(plan, "vision"),
        **_encoder_graphs(plan),
        **_renderers(plan),
        "worker_extension_cls": WORKER_EXTENSION,
        "runner": "pooling",
        "mm_encoder_only": True,
        "skip_mm_profiling": True,
        "hf_overrides": _half(plan, VISION_PREFIX),
        "max_num_seqs": plan.vision_batch,
        "max_num_batched_tokens": max(step, LEAST_STEP),
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
        "hf_overrides": _half(plan, LANGUAGE_PREFIX),
        "max_num_seqs": plan.decode_batch,
        "limit_mm_per_prompt": {"image": 0, **NO_OTHER_MODALITIES},
        "enable_mm_embeds": True,
        "enable_prefix_caching": True,
        **_beside_encoder(plan),
    }


def fused_args(plan: Plan) -> EngineArgs:
    """One ordinary engine of the same model, for comparison and for models that cannot be split."""
    overrides = plan.spec.hf_overrides
    return {
        **_common(plan),
        **_memory(plan, "fused"),
        **_optional(plan),
        **_prefill(plan),
        "max_num_seqs": plan.decode_batch,
        "limit_mm_per_prompt": {"image": plan.max_images, **NO_OTHER_MODALITIES},
        **({"hf_overrides": dict(overrides)} if overrides else {}),
    }


def _half(plan: Plan, prefix: str) -> EngineArgs:
    """The row's changes to the config, with one half's architecture in place of the whole's."""
    return {**plan.spec.hf_overrides, "architectures": [prefix + plan.spec.architecture]}


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
        **_known(common_arguments(plan.spec)),
        **({"dtype": plan.dtype} if plan.dtype else {}),
        **_exact_sizes(plan),
    }


def _known(arguments: EngineArgs) -> EngineArgs:
    """A row's arguments without the tokenizer mode that its document has and vLLM has no more.

    There are no slow tokenizers since transformers 5; vLLM refuses to start with one.
    """
    gone = ("tokenizer_mode", "slow")
    return {name: value for name, value in arguments.items() if (name, value) != gone}


def _exact_sizes(plan: Plan) -> EngineArgs:
    """Limits that no bucket crosses: the model's own processor must leave alone what was fitted.

    The bundled model's would shrink a bucket of more than 1,280 visual tokens, unnoticed.
    """
    pixels = [bucket.height * bucket.width for bucket in plan.buckets if bucket.compiled]
    if not pixels:
        return {}
    # By these names the image processor means areas, in pixels.
    size = {"shortest_edge": min(pixels), "longest_edge": max(pixels)}
    return {"mm_processor_kwargs": {**plan.spec.mm_processor_kwargs, "size": size}}


def _optional(plan: Plan) -> EngineArgs:
    """Decoder arguments that are only there when they are set, and those of the row."""
    values = {
        "long_prefill_token_threshold": plan.seq_len,
        "quantization": plan.quantization,
        "kv_cache_dtype": plan.kv_cache_dtype,
    }
    given = {name: value for name, value in values.items() if value is not None}
    return {**given, **decoder_arguments(plan.spec)}


def _prefill(plan: Plan) -> EngineArgs:
    """On the CPU a prompt is read in one step."""
    if plan.target != "cpu":
        return {}
    return {"enable_chunked_prefill": False, "max_num_batched_tokens": plan.batched_tokens}


def _beside_encoder(plan: Plan) -> EngineArgs:
    """How a decoder on the CPU shares the cores.

    A small model's steps are too short to be shared out among threads, but for prompts. Any decoder
    gives way to the encoder: an image that waits holds up a whole answer, and steps are better done
    for many answers at once.
    """
    if plan.target != "cpu":
        return {}
    threads = plan.spec.cpu_decode_threads
    if not threads:
        return {"additional_config": {NICE: DECODER_NICE}}
    return {
        "additional_config": {THREADS: threads, NICE: DECODER_NICE},
        "worker_cls": DECODER_WORKER,
    }


def kv_cache_bytes(plan: Plan) -> int:
    """Bytes of the decoder's KV cache, 0 where that is left to vLLM."""
    return (plan.kv_cache_mb or 0) * MIB


def _memory(plan: Plan, role: str) -> EngineArgs:
    """How much memory an engine takes, and on the CPU that nothing is compiled.

    Eager mode needs no C++ compiler, and an explicit KV cache size skips memory profiling. On CUDA
    vLLM refuses to start unless its whole share of the GPU is free, also where it will not use it:
    the share of an engine with an explicit size is therefore put low. Where both engines are on one
    GPU and no size is given, `backend.engines.gpu_memory` finds one when they are started.
    """
    kv_bytes = VISION_KV_BYTES if role == "vision" else kv_cache_bytes(plan)
    if plan.target == "cpu":
        return {"enforce_eager": True, "kv_cache_memory_bytes": kv_bytes}
    if kv_bytes:
        return {"kv_cache_memory_bytes": kv_bytes, "gpu_memory_utilization": LEAST_SHARE}
    return {"gpu_memory_utilization": SHARED} if role == "language" and shares_gpu(plan) else {}


def shares_gpu(plan: Plan) -> bool:
    """Whether both engines are on one GPU, or on several."""
    return bool(set(plan.vision_devices) & set(plan.language_devices))


def _renderers(plan: Plan) -> EngineArgs:
    """On CUDA, threads in which images are made ready: on the CPU there are no cores to spare."""
    return {"renderer_num_workers": RENDERERS} if plan.target == "cuda" else {}


def _encoder_graphs(plan: Plan) -> EngineArgs:
    """On CUDA the tower is replayed as a graph for every number of images of one bucket.

    Launching its many small kernels one by one takes as long as they do. vLLM leaves a family
    alone that it has no such graphs for.
    """
    if plan.target != "cuda" or not plan.buckets:
        return {}
    images = range(1, plan.vision_batch + 1)
    budgets = {bucket.tokens * count for bucket in plan.buckets for count in images}
    return {
        "compilation_config": {
            "cudagraph_mm_encoder": True,
            "encoder_cudagraph_token_budgets": sorted(budgets),
            "encoder_cudagraph_max_vision_items_per_batch": plan.vision_batch,
        }
    }
