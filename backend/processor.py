"""What this machine's processor is good at."""

from __future__ import annotations

from pathlib import Path
from typing import Final

CPUINFO: Final = Path("/proc/cpuinfo")

BFLOAT16_FLAGS: Final = frozenset({"avx512_bf16", "amx_bf16", "bf16"})
"""Linux's names for bfloat16 arithmetic: AVX-512, AMX, and Arm's."""


def multiplies_bfloat16(cpuinfo: str) -> bool:
    """Whether the processor that this text of /proc/cpuinfo tells of multiplies bfloat16 itself.

    Without that torch does it in software: on an AMD EPYC with AVX2 alone a matrix product took
    some 270 times as long in bfloat16 as in float32.
    """
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in ("flags", "features"):
            return not BFLOAT16_FLAGS.isdisjoint(value.split())
    return False


def cpu_dtype() -> str | None:
    """The type to compute in on this machine's processor; None leaves it to the model."""
    if not CPUINFO.exists() or multiplies_bfloat16(CPUINFO.read_text("utf-8", "replace")):
        return None
    return "float32"
