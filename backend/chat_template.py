"""Chat templates: rendering one that a row brings, and finding out what a model's own takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from backend.errors import InputError

PROBE = "\ue003"


def render_template(template: str, messages: Sequence[dict[str, Any]]) -> str:
    """Messages through a Jinja template, as transformers renders it, ready for the answer."""
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(template).render(messages=messages, add_generation_prompt=True)


def apply_template(tokenizer: Any, messages: Sequence[dict[str, Any]]) -> str:
    """Messages through the model's own chat template, ready for the answer.

    Raises InputError (`bad_request`) for a conversation that the template refuses.
    """
    from jinja2.exceptions import TemplateError

    try:
        return str(
            tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
        )
    except (TemplateError, ValueError) as error:
        raise InputError(
            "bad_request", f"The model's chat template refuses the conversation: {error}."
        ) from None


def takes_parts(tokenizer: Any) -> bool:
    """Whether the tokenizer's chat template takes a message as a list of parts.

    Otherwise it takes plain text: a list makes it fail, or is written out as Python has it.
    """
    from jinja2.exceptions import TemplateError

    messages = [{"role": "user", "content": [{"type": "text", "text": PROBE}]}]
    try:
        text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    except (TemplateError, TypeError, AttributeError, ValueError, KeyError):
        return False
    return PROBE in text and "'type'" not in text and '"type"' not in text
