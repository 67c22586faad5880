"""Sampling as a model's row completes it: where to stop, and what its logits processors take."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from backend.catalog.spec import ModelSpec
from backend.types import Sampling

END = "eos_token"
"""Among a row's stop tokens: the one that the tokenizer itself names as the end."""


def complete_sampling(sampling: Sampling, spec: ModelSpec, tokenizer: Any) -> Sampling:
    """The same with the row's part; what a person chose stays.

    An answer that is to go on to its last token has no tokens to stop at either.
    """
    return replace(
        sampling,
        stop_token_ids=() if sampling.ignore_eos else stop_token_ids(spec, tokenizer),
        skip_special_tokens=spec.sampling.get("skip_special_tokens", True),
        extra_args=spec.sampling.get("extra_args"),
    )


def stop_token_ids(spec: ModelSpec, tokenizer: Any) -> tuple[int, ...]:
    """The row's ids, and those of its named tokens that the tokenizer knows."""
    found = [_token_id(name, tokenizer) for name in spec.stop_tokens]
    return (*spec.stop_token_ids, *(number for number in found if number is not None))


def _token_id(name: str, tokenizer: Any) -> int | None:
    if name == END:
        end: int | None = tokenizer.eos_token_id
        return end
    unknown = getattr(tokenizer, "unk_token", None)
    number: int | None = tokenizer.convert_tokens_to_ids(name)
    is_unknown = (
        unknown is not None
        and name != unknown
        and (number == tokenizer.convert_tokens_to_ids(unknown))
    )
    return None if is_unknown else number
