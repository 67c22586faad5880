"""RequestPreview: what would be sent for a question, without an engine and without a download."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from backend.catalog.arguments import QAIC_EAGER_ARGUMENTS, document_arguments
from backend.catalog.lookup import model_path
from backend.catalog.prompt_style import ExplicitPrompt, Message, TemplateKind
from backend.catalog.spec import ModelSpec
from backend.model_sampling import stop_token_ids
from backend.plan import Plan
from backend.settings import Settings
from backend.targets import QAIC_EAGER, TARGETS
from backend.types import Method, Turn
from backend.written import write_chat, write_generate

OTHER_MODALITIES = {"video": 0, "audio": 0}

ARGUMENTS = {
    "ctx_len": "max_model_len",
    "seq_len": "long_prefill_token_threshold",
    "decode_batch": "max_num_seqs",
    "quantization": "quantization",
    "kv_cache_dtype": "kv_cache_dtype",
    "tensor_parallel_size": "tensor_parallel_size",
    "seed": "seed",
    "load_format": "load_format",
}
"""Settings that are engine arguments; those that a person gave win over the row's."""


@dataclass(frozen=True, slots=True)
class RequestPreview:
    """One request as it would be sent; `as_json` is the object of the command line.

    `prompt` is None where only the model's own files could tell it, `messages` where no chat
    template is used. `stop_token_ids` has the ids of `stop_tokens` where the files are at hand.
    """

    prompt: str | None
    messages: list[Message] | None
    template: TemplateKind
    stop_tokens: list[str]
    stop_token_ids: list[int]
    sampling: Mapping[str, Any]
    lora: list[dict[str, Any]]
    engine_args: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """All of it as plain values."""
        return asdict(self)


def preview_request(
    plan: Plan, settings: Settings, turn: Turn, method: Method, tokenizer: Any = None
) -> RequestPreview:
    """What would be sent for one question; `tokenizer` is the model's, where it is at hand.

    Raises InputError (`bad_request`) for what the model's chat template refuses.
    """
    spec = plan.spec
    return RequestPreview(
        prompt=_prompt(turn, spec, method, tokenizer),
        messages=_messages(turn, spec, method),
        template=spec.prompt.kind if method == "generate" else spec.chat_template_kind,
        stop_tokens=list(spec.stop_tokens),
        stop_token_ids=list(stop_token_ids(spec, tokenizer) if tokenizer else spec.stop_token_ids),
        sampling=_sampling(spec, settings),
        lora=_lora(spec),
        engine_args=_engine_args(plan, settings, len(turn.images), method),
    )


def _prompt(turn: Turn, spec: ModelSpec, method: Method, tokenizer: Any) -> str | None:
    style = spec.prompt
    own_template = isinstance(style, ExplicitPrompt) is (method == "chat")
    if not isinstance(style, ExplicitPrompt):
        own_template = style.override is None
    if own_template and (tokenizer is None or not tokenizer.chat_template):
        return None
    if method == "generate":
        return write_generate(turn, spec, tokenizer).full
    return next(write_chat([turn], spec, tokenizer)).full


def _messages(turn: Turn, spec: ModelSpec, method: Method) -> list[Message] | None:
    images = [image.location for image in turn.images]
    if method == "generate":
        style = spec.prompt
        return None if isinstance(style, ExplicitPrompt) else style.messages(turn.text, images)
    parts = [{"type": "image_url", "image_url": {"url": image}} for image in images]
    return [{"role": "user", "content": [*parts, {"type": "text", "text": turn.text}]}]


def _sampling(spec: ModelSpec, settings: Settings) -> dict[str, Any]:
    given = {"seed": settings.seed} if "seed" in settings.model_fields_set else {}
    return {"temperature": 0.0, "max_tokens": spec.max_tokens, **spec.sampling, **given}


def _lora(spec: ModelSpec) -> list[dict[str, Any]]:
    if spec.lora is None:
        return []
    path = f"{model_path(spec)}/{spec.lora.folder}"
    return [{"name": spec.lora.name, "id": spec.lora.number, "path": path}]


def _qaic_arguments(plan: Plan) -> dict[str, Any]:
    """The language decoder's of the QAIC document, corrected as ARCHITECTURE.md says."""
    trust = {"trust_remote_code": True} if plan.spec.remote_code else {}
    if (plan.qaic_mode or plan.spec.qaic_modes[0]) == "eager":
        lengths = {"max_model_len": QAIC_EAGER.ctx_len, "max_num_seqs": QAIC_EAGER.batch}
        return {**lengths, **QAIC_EAGER_ARGUMENTS, **trust}
    defaults = TARGETS["qaic"]
    config: dict[str, Any] = {"device_group": list(plan.language_devices)}
    if plan.heights:
        compiled = {"height": list(plan.heights), "width": list(plan.widths)}
        config["override_qaic_config"] = compiled
    return {
        "max_model_len": defaults.ctx_len,
        "long_prefill_token_threshold": defaults.seq_len,
        "max_num_seqs": defaults.batch,
        "quantization": defaults.quantization,
        "kv_cache_dtype": defaults.kv_cache_dtype,
        "enable_mm_embeds": True,
        "additional_config": config,
        **trust,
    }


def _engine_args(plan: Plan, settings: Settings, images: int, method: Method) -> dict[str, Any]:
    """The row's arguments as its document has them, then what a person set.

    A row of both documents is vLLM's example unless the target is QAIC.
    """
    spec = plan.spec
    on_qaic = "qaic" in spec.origins and ("vllm" not in spec.origins or plan.target == "qaic")
    row = _qaic_arguments(plan) if on_qaic else document_arguments(spec)
    others = OTHER_MODALITIES if on_qaic or method == "chat" else {}
    given = {
        argument: getattr(settings, name)
        for name, argument in ARGUMENTS.items()
        if name in settings.model_fields_set and getattr(settings, name) is not None
    }
    return {
        "model": model_path(spec),
        **row,
        "limit_mm_per_prompt": {"image": images, **others},
        **given,
    }
