"""ModelSpec: everything Bifocal knows about one model, as data.

Fields that bear the name of a vLLM engine argument are that argument, as the row's document has it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from backend.catalog.prompt_style import PromptStyle, TemplateKind
from backend.catalog.qaic_row import QaicRow
from backend.resolution import Resolution
from backend.types import Method

OriginName = Literal["qaic", "vllm", "bifocal"]
QaicMode = Literal["aot", "eager"]

UNSTATED_CTX_LEN = 4096
UNSTATED_BATCH = 5
UNSTATED_MAX_TOKENS = 256


@dataclass(frozen=True, slots=True)
class LoraAdapter:
    """An adapter that every request of a model goes through."""

    name: str
    """What vLLM calls it."""

    number: int
    """vLLM's id of it, from 1."""

    folder: str
    """Its files, as a folder among the model's."""

    rank: int
    """Its rank, which vLLM must make room for."""


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
    """Which of the source documents lists it; `bifocal` for Bifocal's own rows."""

    qaic_modes: tuple[QaicMode, ...] = ()
    """QAIC modes in the order of the QAIC table: ahead of time compiled, or eager."""

    qaic: QaicRow = field(default_factory=QaicRow)
    """What the QAIC plugin wants of this model."""

    last_vllm: str | None = None
    """The last vLLM release with the architecture, where upstream has dropped it."""

    split: bool = True
    """Whether it runs as two engines: upstream's class marks its vision tower and its language
    model, from which the plugin derives the halves. Otherwise it runs as one fused engine."""

    prompt: PromptStyle
    """The prompt of `--method generate`."""

    image_token: str
    """The text that vLLM's processor expands to one image's tokens; `{i}` is the image's number."""

    chat_image: str | None = None
    """One image in a chat message of plain text, where that is more than `image_token`."""

    method: Method = "chat"
    """The default of `--method`: generate where the model has no chat template of its own."""

    stop_tokens: tuple[str, ...] = ()
    """Tokens that end an answer, by name; `eos_token` is the tokenizer's own. Those that the
    tokenizer does not know are dropped."""

    stop_token_ids: tuple[int, ...] = ()
    """Tokens that end an answer, by id."""

    sampling: Mapping[str, Any] = field(default_factory=dict)
    """Sampling parameters that differ from greedy with at most 256 tokens."""

    max_model_len: int | None = None
    """Context length in tokens; None leaves it to the model."""

    own_ctx_len: int = UNSTATED_CTX_LEN
    """Context length in tokens to plan with where `max_model_len` is None."""

    max_num_seqs: int | None = None
    """Answers decoded at the same time; None leaves it to Bifocal."""

    tensor_parallel_size: int | None = None
    """Devices that one engine spans."""

    dtype: str | None = None
    """Type of weights and activations."""

    tokenizer_mode: str | None = None
    """Which tokenizer vLLM loads."""

    ignore_patterns: tuple[str, ...] = ()
    """Files of the model that are not loaded."""

    hf_overrides: Mapping[str, Any] = field(default_factory=dict)
    """Changes to the model's config."""

    mm_processor_kwargs: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the multimodal processor."""

    reasoning_parser: str | None = None
    """vLLM's parser that tells reasoning from the answer."""

    logits_processors: tuple[str, ...] = ()
    """Logits processors, as `module:class`."""

    lora: LoraAdapter | None = None
    """The adapter that answers about images go through."""

    engine_args: Mapping[str, Any] = field(default_factory=dict)
    """vLLM engine arguments that have no field here."""

    remote_code: bool = False
    """Whether its document runs code that comes with the model (`trust_remote_code`)."""

    resolution: Resolution | None = None
    """How pictures are cut into visual tokens, and thereby how they are resized before; None where
    that is left to the model's own processor."""

    heights: tuple[int, ...] = ()
    """Compiled heights in pixels, paired with `widths`."""

    widths: tuple[int, ...] = ()
    """Compiled widths in pixels."""

    max_images: int = 12
    """The most images in one conversation."""

    vision_batch: int = UNSTATED_BATCH
    """Images encoded at the same time."""

    joins_line_breaks: bool = False
    """Whether line breaks beside an image become one token with those that stand around it."""

    cpu_kv_cache_mb: int = 4096
    """KV cache of the decoder on the CPU, in MiB."""

    cpu_decode_threads: int | None = None
    """Threads of the decoder on the CPU; None means all cores."""

    bundled: bool = False
    """Whether the files are in the repository."""

    about: str = ""
    """What the page says of it before anything is asked; empty for a model that knows the world."""

    note: str = ""
    """What people are told with every answer of this model."""

    @property
    def ctx_len(self) -> int:
        """Context length in tokens."""
        return self.max_model_len or self.own_ctx_len

    @property
    def decode_batch(self) -> int:
        """Answers decoded at the same time."""
        return self.max_num_seqs or UNSTATED_BATCH

    @property
    def max_tokens(self) -> int:
        """The longest answer, in tokens, unless a person says otherwise."""
        return int(self.sampling.get("max_tokens", UNSTATED_MAX_TOKENS))

    @property
    def chat_template_kind(self) -> TemplateKind:
        """Whose chat template `--method chat` goes through; vLLM asks the processor first."""
        return "processor" if self.prompt.kind == "explicit" else self.prompt.kind
