"""A model's weight files before an engine is started: there, whole, and not too large."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any, Final

import psutil

from backend.engines.args import kv_cache_bytes
from backend.errors import EngineError, ModelError
from backend.plan import Plan

PATTERNS: Final = ("*.safetensors", "*.bin", "*.pt", "*.gguf")
LONGEST_HEADER: Final = 100_000_000
"""Bytes that a safetensors header may have, by its format."""
BYTES: Final = {"float32": 4, "float16": 2, "bfloat16": 2, "F64": 8, "F32": 4, "F16": 2, "BF16": 2}
PROCESS_BYTES: Final = 700 * 2**20
"""What an engine process on the CPU holds beside weights and KV cache, about."""


def check_weights(folder: Path, plan: Plan) -> None:
    """Raises ModelError (`model_unavailable`) for missing or damaged files, and EngineError where
    the memory of this machine is too small for engines on the CPU.
    """
    if plan.load_format == "dummy":
        return
    files = [path for pattern in PATTERNS for path in sorted(folder.glob(pattern))]
    if not files:
        raise ModelError(
            "model_unavailable",
            f"{folder.name} has no weights (*.safetensors): download the model again, or use "
            "--load-format dummy for random ones.",
        )
    headers = [safetensors_header(path) for path in files if path.suffix == ".safetensors"]
    if plan.target == "cpu" and headers:
        _check_memory(plan, sum(_bytes_in_memory(header, plan.dtype) for header in headers))


def checkpoint_parameters(folder: Path) -> int:
    """Parameters in a model's safetensors files; 0 where there are none."""
    headers = map(safetensors_header, sorted(folder.glob("*.safetensors")))
    return sum(math.prod(entry["shape"]) for header in headers for entry in header.values())


def safetensors_header(path: Path) -> dict[str, Any]:
    """The header of a safetensors file: name -> dtype, shape, data_offsets.

    Raises ModelError (`model_unavailable`) unless the file is as long as its header says
    (https://github.com/huggingface/safetensors, "Format").
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            (length,) = struct.unpack("<Q", file.read(8))
            if length > min(LONGEST_HEADER, size):
                raise ValueError("no header")
            header: dict[str, Any] = json.loads(file.read(length))
        header.pop("__metadata__", None)
        due = 8 + length + max((entry["data_offsets"][1] for entry in header.values()), default=0)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, struct.error) as error:
        raise _damaged(path, type(error).__name__) from None
    if size != due:
        raise _damaged(path, f"{size:,} bytes instead of {due:,}")
    return header


def _damaged(path: Path, how: str) -> ModelError:
    return ModelError(
        "model_unavailable",
        f"{path.name} is damaged ({how}): download the model again, or clone the repository again "
        "if it is the bundled one.",
    )


def _bytes_in_memory(header: dict[str, Any], dtype: str | None) -> int:
    """What the tensors take as the engines compute with them."""
    total = 0
    for entry in header.values():
        begin, end = entry["data_offsets"]
        stored = BYTES.get(entry["dtype"])
        total += (
            (end - begin) * BYTES[dtype] // stored if dtype in BYTES and stored else end - begin
        )
    return total


def _check_memory(plan: Plan, weights: int) -> None:
    engines = 1 if plan.topology == "fused" else 2
    needed = weights + kv_cache_bytes(plan) + engines * PROCESS_BYTES
    free = psutil.virtual_memory().available
    if needed > free:
        raise EngineError(
            f"{plan.label} needs about {needed / 2**30:.1f} GiB of memory here ("
            f"{weights / 2**30:.1f} for weights in {plan.dtype or 'their own type'}), and "
            f"{free / 2**30:.1f} are free: end other programs, choose a smaller model, or a "
            "machine with more memory."
        )
