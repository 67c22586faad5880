"""The frozen values that flow through Bifocal, in the order in which they appear in a request.

Only the standard library is imported; pixels and tensors are typed, never constructed, here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from backend.placement import Bucket, Fit, PlacedImage

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image

Role = Literal["system", "user", "assistant"]
Method = Literal["chat", "generate"]
Origin = Literal["path", "upload", "url"]
FinishReason = Literal["stop", "length", "abort"]
EngineState = Literal["loading", "ready", "busy", "restarting", "failed"]
OverallState = Literal["loading", "ready", "degraded", "failed"]
Stage = Literal["waiting", "fetch", "prepare", "queue", "encode", "prefill", "decode"]


@dataclass(frozen=True, slots=True)
class ImageInput:
    """An image as a person gave it, before a byte of it was read.

    `location` is a file path (`path`, `upload`) or an http(s) or data address (`url`); `name` is
    what messages and results call it, and is never a host path for uploads.
    """

    location: str
    origin: Origin
    name: str = ""


@dataclass(frozen=True, slots=True)
class LoadedImage:
    """A decoded picture as a person sees it: sRGB, orientation applied, transparency over white.

    `width` and `height` are the picture's own, in pixels. `pixels` may be fewer: those of a large
    picture are reduced by a whole factor, to no less than the largest bucket can make use of.
    `sha256` is over mode, own size and these pixels, so the same picture has the same hash in every
    lossless file. A large JPEG is reduced while it is decoded: its hash is its own.
    """

    pixels: Image
    sha256: str
    width: int
    height: int
    source: str
    notes: tuple[str, ...] = ()

    @property
    def nbytes(self) -> int:
        """Bytes held by the pixels: Pillow takes four for one of RGB."""
        return 4 * self.pixels.width * self.pixels.height


@dataclass(frozen=True, slots=True)
class Embedding:
    """One image as the vision encoder sees it.

    `features` is a CPU tensor [rows, width]: one row a visual token, `width` the decoder's hidden
    size (times 1 + deepstack levels on Qwen3-VL). `extras` is what the decoder needs beside the
    rows (placeholder tokens, grids), in the engine's own terms.
    """

    model: str
    sha256: str
    bucket: Bucket
    features: torch.Tensor
    extras: Mapping[str, Any]
    encode_s: float

    @property
    def nbytes(self) -> int:
        """Bytes held by the rows."""
        return int(self.features.numel() * self.features.element_size())


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation; images come before the text."""

    role: Role
    text: str
    images: tuple[ImageInput, ...] = ()


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn, and when to stop; temperature 0 is greedy.

    `stop_token_ids`, `skip_special_tokens` and `extra_args` (of logits processors) are the model's.
    """

    max_tokens: int = 256
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int | None = 0
    stop_token_ids: tuple[int, ...] = ()
    skip_special_tokens: bool = True
    extra_args: Mapping[str, Any] | None = None
    ignore_eos: bool = False
    """Go on to `max_tokens` whatever the model says, to measure speed."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A whole conversation whose last turn, the user's, is to be answered.

    `method` None means chat where the model has a chat template, else generate. `fit` None means
    the setting.
    """

    turns: tuple[Turn, ...]
    sampling: Sampling = field(default_factory=Sampling)
    method: Method | None = None
    fit: Fit | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts; `prompt_tokens` includes `image_tokens`."""

    prompt_tokens: int = 0
    image_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Timings:
    """Seconds; stages that did not happen are 0.

    `ttft_s` runs from the request to its first token, without the time engines took to load.
    """

    fetch_s: float = 0.0
    prepare_s: float = 0.0
    queue_s: float = 0.0
    encode_s: float = 0.0
    ttft_s: float = 0.0
    decode_s: float = 0.0
    total_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """A finished answer: the result object of the command line and the API."""

    text: str
    finish_reason: FinishReason | None
    model: str
    target: str
    topology: str
    method: Method
    images: tuple[PlacedImage, ...]
    usage: Usage
    timings: Timings
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The result object of the contract; seconds rounded to 0.1 ms."""
        usage = {name: getattr(self.usage, name) for name in Usage.__slots__}
        timings = {name: round(getattr(self.timings, name), 4) for name in Timings.__slots__}
        return {
            "text": self.text,
            "finish_reason": self.finish_reason,
            "model": self.model,
            "target": self.target,
            "topology": self.topology,
            "method": self.method,
            "images": [image.as_json() for image in self.images],
            "usage": usage,
            "timings": timings,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True)
class StageEvent:
    """A stage of the answer has begun; `detail` is a sentence for a person."""

    stage: Stage
    detail: str


@dataclass(frozen=True, slots=True)
class ImagesEvent:
    """Every image has its bucket; comes before encoding begins."""

    images: tuple[PlacedImage, ...]


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """More text of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class DoneEvent:
    """The answer is complete; always the last event."""

    result: Result


Event = StageEvent | ImagesEvent | TokenEvent | DoneEvent


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """One engine as a person sees it. `role` is `vision`, `language` or `fused`."""

    role: str
    state: EngineState
    detail: str = ""
    devices: tuple[int, ...] = ()
    running: int = 0
    capacity: int = 0


@dataclass(frozen=True, slots=True)
class Health:
    """What `/health` answers and the page's header shows."""

    status: OverallState
    engines: tuple[EngineStatus, ...]
    model: str
    target: str
    topology: str

    def as_json(self) -> dict[str, Any]:
        """The body of `/health`; `details` where there is something to say about an engine."""
        details = {engine.role: engine.detail for engine in self.engines if engine.detail}
        return {
            "status": self.status,
            "engines": {engine.role: engine.state for engine in self.engines},
            "model": self.model,
            "target": self.target,
            "topology": self.topology,
            **({"details": details} if details else {}),
        }
