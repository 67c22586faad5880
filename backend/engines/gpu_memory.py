"""Memory of NVIDIA GPUs, as their driver counts it, and what of it a decoder gets."""

from __future__ import annotations

import json
from pathlib import Path

from backend.catalog.lookup import model_path
from backend.engines.args import LEAST_SHARE, EngineArgs, shares_gpu
from backend.engines.gpu_share import Weights, kv_cache_bytes, kv_cache_per_token
from backend.engines.weights import BYTES, safetensors_header
from backend.errors import EngineError
from backend.heavy_imports import heavy_imports
from backend.plan import Plan
from backend.targets import Target


def shared_memory(plan: Plan) -> EngineArgs:
    """The decoder's part of GPUs that the encoder is on too; nothing where that is vLLM's to say.

    Needs the weights' files: of a model that is still to be downloaded vLLM takes a fixed share.
    Raises EngineError where both do not fit.
    """
    folder = Path(model_path(plan.spec))
    files = sorted(folder.glob("*.safetensors"))
    if plan.target != "cuda" or plan.kv_cache_mb or not shares_gpu(plan) or not files:
        return {}
    sizes: dict[str, int] = {}
    for path in files:
        for name, entry in safetensors_header(path).items():
            sizes[name] = entry["data_offsets"][1] - entry["data_offsets"][0]
    found = devices()
    used = sorted({*plan.vision_devices, *plan.language_devices})
    if used[-1] >= len(found):
        raise EngineError(
            f"There is no GPU {used[-1]} here, only {len(found)}, counted from 0: see "
            "--vision-devices and --language-devices."
        )
    smallest = min((found[index] for index in used), key=lambda memory: memory[1])
    config = json.loads((folder / "config.json").read_text("utf-8"))
    each = kv_cache_per_token(config, BYTES["bfloat16"]) // plan.tensor_parallel_size
    kv_bytes = kv_cache_bytes(
        plan.label, Weights.of(sizes), smallest, plan.tensor_parallel_size, each * plan.ctx_len
    )
    return {"kv_cache_memory_bytes": kv_bytes, "gpu_memory_utilization": LEAST_SHARE}


def used_bytes(target: Target) -> int:
    """Of all GPUs together; 0 on another target. Does not make this process one of their users."""
    if target != "cuda":
        return 0
    return sum(total - free for total, free in devices())


def devices() -> list[tuple[int, int]]:
    """Bytes in all and bytes free of each GPU, in NVML's order, that of the bus."""
    with heavy_imports():
        from vllm.third_party import pynvml

    pynvml.nvmlInit()
    try:
        handles = [
            pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())
        ]
        infos = [pynvml.nvmlDeviceGetMemoryInfo(handle) for handle in handles]
        return [(int(info.total), int(info.free)) for info in infos]
    finally:
        pynvml.nvmlShutdown()
