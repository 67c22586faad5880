"""What the simulated card refuses of an engine's configuration; each message says why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tests.qaic_simulation import QIDS

OVERRIDES = frozenset({
    "height", "width", "num_patches", "mm_processor_kwargs", "num_cores", "aic_num_cores", "mos",
    "dfs", "aic_enable_depth_first", "split_model_io", "use_onnx_subfunctions", "kv_offload",
    "prefill_seq_len", "device_group",
})  # fmt: skip
"""Keys of `override_qaic_config` that the plugin's documents and examples of images have; it hands
any other to the compiler."""

DYNAMIC = ("qwen2_5_vl", "qwen3_vl")
"""Model types that are compiled for sizes."""


class CardError(ValueError):
    """Something that a QAIC card or its plugin does not do; it says that the card is simulated."""

    def __str__(self) -> str:
        return f"simulated QAIC card: {super().__str__()}"


def check_aot(config: Any) -> None:
    """An engine that is compiled ahead of time. Raises CardError."""
    additional = config.additional_config
    _known("additional_config", additional, {"device_group", "override_qaic_config"})
    _known("override_qaic_config", additional.get("override_qaic_config", {}), OVERRIDES)
    _devices(device_group(additional))
    _common(config)
    model, overrides = config.model_config, additional.get("override_qaic_config", {})
    if model.runner_type == "pooling":
        if config.scheduler_config.async_scheduling:
            raise CardError("the vision encoder needs async_scheduling=False")
        if model.quantization or config.cache_config.asked_dtype != "auto":
            raise CardError("the vision encoder is given neither quantization nor kv_cache_dtype")
    elif not model.multimodal_config.enable_mm_embeds:
        raise CardError("the language decoder needs enable_mm_embeds")
    if model.hf_config.model_type in DYNAMIC:
        snapped_sizes(overrides, model)
    elif "height" in overrides or "width" in overrides:
        raise CardError(f"{model.hf_config.model_type} is compiled for its own size alone")


def check_eager(config: Any) -> None:
    """The one engine of eager mode. Raises CardError."""
    if "device_group" in config.additional_config:
        raise CardError("device_group, a list, ends the plugin in eager mode")
    if not config.model_config.enforce_eager:
        raise CardError("eager mode needs enforce_eager")
    if config.scheduler_config.async_scheduling:
        raise CardError("eager mode needs async_scheduling=False")
    if config.model_config.quantization or config.cache_config.asked_dtype != "auto":
        raise CardError("mxfp6 and mxint8 are for what is compiled")
    if "QAIC_VISIBLE_DEVICES" not in os.environ:
        raise CardError("eager mode finds its devices by QAIC_VISIBLE_DEVICES")
    _common(config)


def device_group(additional: Mapping[str, Any]) -> Any:
    """An engine's devices: what stands inside `override_qaic_config` wins (the plugin's
    `worker.py` and `_get_qaic_compile_config`)."""
    inside: Mapping[str, Any] = additional.get("override_qaic_config", {})
    return inside.get("device_group", additional.get("device_group"))


def snapped_sizes(overrides: Mapping[str, Any], model: Any) -> dict[int, tuple[int, int]]:
    """Compiled sizes in pixels by their number of visual tokens. Raises CardError."""
    from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

    if ("height" in overrides) != ("width" in overrides):
        raise CardError("height and width must be provided together")
    heights, widths = overrides.get("height", [354]), overrides.get("width", [536])
    if not isinstance(heights, list) or not isinstance(widths, list):
        raise CardError("height and width are lists")
    if len(heights) != len(widths):
        raise CardError(
            f"The number of heights ({len(heights)}) and widths ({len(widths)}) must match"
        )
    vision = model.hf_config.vision_config
    factor = vision.patch_size * vision.spatial_merge_size
    limits = overrides.get("mm_processor_kwargs", {})
    least, most = (
        limits.get("min_pixels", 4 * factor**2),
        limits.get("max_pixels", 2**14 * factor**2),
    )
    found: dict[int, tuple[int, int]] = {}
    for height, width in zip(heights, widths, strict=True):
        size = smart_resize(height, width, factor, least, most)
        tokens = size[0] * size[1] // factor**2
        if found.setdefault(tokens, size) != size:
            raise CardError(f"{size} and {found[tokens]} have {tokens} tokens each")
    return found


def _common(config: Any) -> None:
    multimodal = config.model_config.multimodal_config
    if config.cache_config.enable_prefix_caching:
        raise CardError("prefix caching is not supported")
    if multimodal.mm_processor_cache_gb:
        raise CardError("the multimodal processor cache is not supported")
    for modality in ("video", "audio"):
        if multimodal.get_limit_per_prompt(modality):
            raise CardError(f"{modality} is not supported")


def _devices(group: object) -> None:
    if "QAIC_VISIBLE_DEVICES" in os.environ:
        raise CardError("QAIC_VISIBLE_DEVICES wins over device_group: it must not be set")
    if not isinstance(group, list) or not group or len(set(group)) < len(group):
        raise CardError(f"device_group is a list of devices, none twice, not {group!r}")
    if missing := set(group) - set(QIDS):
        raise CardError(f"there are no devices {sorted(missing)}: this card has {QIDS}")


def _known(what: str, given: Mapping[str, Any], known: Sequence[str] | set[str]) -> None:
    if unknown := set(given) - set(known):
        raise CardError(f"{what} has no {', '.join(sorted(unknown))}")
