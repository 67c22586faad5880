"""What the service needs of the engines; vLLM implements it, and fakes in unit tests do."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from backend.placement import Bucket
from backend.types import Embedding, FinishReason, Sampling

if TYPE_CHECKING:
    import torch
    from PIL.Image import Image
    from prometheus_client import Metric

    from backend.prompts import Prompt, Tokenizer


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """A picture at exactly its bucket's size, ready for a vision tower.

    `sha256` is the original picture's; `digest` identifies picture, bucket and fit together.
    """

    pixels: Image
    sha256: str
    bucket: Bucket
    digest: str

    def embedded(
        self, model: str, rows: torch.Tensor, encode_s: float, **extras: object
    ) -> Embedding:
        """Its embedding: `rows` are [visual tokens, width], `extras` what the decoder needs too."""
        return Embedding(
            model=model,
            sha256=self.sha256,
            bucket=self.bucket,
            features=rows,
            extras={"digest": self.digest, **extras},
            encode_s=encode_s,
        )


@dataclass(frozen=True, slots=True)
class Chunk:
    """More of an answer: `text` since the last chunk, `tokens` generated so far."""

    text: str
    tokens: int
    prompt_tokens: int
    finish_reason: FinishReason | None = None


class Engine(Protocol):
    """One engine process group."""

    async def check_health(self) -> None:
        """Raises EngineError where the engine is dead, or neither answers nor works."""
        ...

    async def parameters(self) -> dict[str, int]:
        """Parameters held on the first device, by part of the model; of a split's halves only."""
        ...

    @property
    def unfinished(self) -> int:
        """Requests in the engine: queued or running."""
        ...

    @property
    def detail(self) -> str:
        """What a person should know of an engine that is ready; mostly nothing."""
        ...

    def metrics(self) -> Iterable[Metric]:
        """vLLM's own counters of this engine, as Prometheus families."""
        ...

    def kill(self) -> None:
        """Ends a hung engine's processes at once, so that whoever waits for it is told."""
        ...

    def shutdown(self) -> None:
        """Ends the engine's processes, dead or alive. Blocking."""
        ...


class VisionEncoder(Engine, Protocol):
    """Images to embeddings."""

    async def encode(self, image: PreparedImage) -> Embedding:
        """One image's rows. Cancelling aborts it in the engine; raises EngineError."""
        ...


class LanguageDecoder(Engine, Protocol):
    """Prompt and embeddings, or in a fused engine pixels, to text."""

    @property
    def tokenizer(self) -> Tokenizer: ...

    def generate(
        self,
        prompt: Prompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        sampling: Sampling,
    ) -> AsyncGenerator[Chunk, None]:
        """The answer as it grows. Closing the iterator aborts it in the engine."""
        ...
