"""ChatTokenizer: a model's tokenizer with the chat template that vLLM's `LLM.chat` would use."""

from __future__ import annotations

from typing import Any

from vllm.renderers.hf import resolve_chat_template


class ChatTokenizer:
    """Everything is the tokenizer's own but the chat template.

    vLLM takes the processor's, else the tokenizer's, else the one it has for models without.
    """

    def __init__(self, tokenizer: Any, model_config: Any) -> None:
        self._tokenizer = tokenizer
        self.chat_template = resolve_chat_template(
            tokenizer, chat_template=None, tools=None, model_config=model_config
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """As transformers has it."""
        return self._tokenizer.apply_chat_template(
            conversation, chat_template=self.chat_template, **options
        )
