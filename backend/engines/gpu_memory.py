"""Memory in use on this machine's NVIDIA GPUs, as their driver counts it."""

from __future__ import annotations

from backend.targets import Target


def used_bytes(target: Target) -> int:
    """Of all GPUs together; 0 on another target. Does not make this process one of their users."""
    if target != "cuda":
        return 0
    return sum(total - free for total, free in devices())


def devices() -> list[tuple[int, int]]:
    """Bytes in all and bytes free of each GPU, in NVML's order, that of the bus."""
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
