"""A row as vLLM engine arguments, as its document has them; pure data."""

from __future__ import annotations

from typing import Any

from backend.catalog.spec import ModelSpec

Arguments = dict[str, Any]

QAIC_EAGER_ARGUMENTS: Arguments = {
    "enforce_eager": True,
    "async_scheduling": False,
    "enable_prefix_caching": False,
}
"""What the QAIC plugin's eager mode needs of its one engine."""


def document_arguments(spec: ModelSpec) -> Arguments:
    """All engine arguments of a row but `model` and the image limit; unset ones are absent."""
    plain = {
        "max_model_len": spec.max_model_len,
        "max_num_seqs": spec.max_num_seqs,
        "tensor_parallel_size": spec.tensor_parallel_size,
        "trust_remote_code": spec.remote_code,
        "hf_overrides": dict(spec.hf_overrides),
    }
    return {**_given(plain), **common_arguments(spec), **decoder_arguments(spec)}


def common_arguments(spec: ModelSpec) -> Arguments:
    """What every engine of the model takes, vision and language alike.

    Without those that a plan decides (lengths, batches, devices, trust) and without
    `hf_overrides`, which a split changes.
    """
    plain = {
        "dtype": spec.dtype,
        "tokenizer_mode": spec.tokenizer_mode,
        "ignore_patterns": list(spec.ignore_patterns),
        "mm_processor_kwargs": dict(spec.mm_processor_kwargs),
    }
    return {**_given(plain), **spec.engine_args}


def decoder_arguments(spec: ModelSpec) -> Arguments:
    """What only an engine that writes text takes."""
    plain = {
        "reasoning_parser": spec.reasoning_parser,
        "logits_processors": list(spec.logits_processors),
        "enable_lora": spec.lora is not None,
        "max_lora_rank": spec.lora.rank if spec.lora else None,
    }
    return _given(plain)


def _given(arguments: Arguments) -> Arguments:
    return {name: value for name, value in arguments.items() if value}
