"""ModelSpec: everything Bifocal knows about one model, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.buckets import DynamicResolution

OriginName = Literal["qaic", "vllm", "bifocal"]
QaicMode = Literal["aot", "eager"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """One row of the catalogue."""

    key: str
    """What `--model` takes; the Hugging Face id where the QAIC table alone has the model."""

    label: str
    """The name shown to people."""

    hf_id: str
    """Hugging Face id, or a folder relative to the repository for the bundled model."""

    architecture: str
    """vLLM's name of the model class."""

    origins: tuple[OriginName, ...]
    """Which of the source documents lists it; `bifocal` for the bundled model."""

    qaic_modes: tuple[QaicMode, ...] = ()
    """QAIC modes in the order of the QAIC table: ahead of time compiled, or eager."""

    image_token: str
    """The text that vLLM's processor expands to one image's placeholder tokens."""

    placeholder: str
    """One image in an explicit prompt."""

    template: str
    """The explicit prompt of `--method generate`, with `{placeholders}` and `{question}`."""

    resolution: DynamicResolution
    """How pictures are cut into visual tokens."""

    heights: tuple[int, ...]
    """Compiled heights in pixels, paired with `widths`."""

    widths: tuple[int, ...]
    """Compiled widths in pixels."""

    ctx_len: int
    """Context length in tokens."""

    max_images: int
    """The most images in one conversation."""

    decode_batch: int = 5
    """Answers decoded at the same time."""

    vision_batch: int = 5
    """Images encoded at the same time."""

    cpu_kv_cache_mb: int = 4096
    """KV cache of the decoder on the CPU, in MiB."""

    engine_args: Mapping[str, Any] = field(default_factory=dict)
    """Further vLLM engine arguments of both engines."""

    bundled: bool = False
    """Whether the files are in the repository."""
