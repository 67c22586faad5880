"""The config of InternVL in its own format: neither transformers nor vLLM has one.

It is copied into the checkpoint, which names it as `auto_map`, as a published one does.
"""

from typing import Any

from transformers import AutoConfig, PretrainedConfig


class InternVLChatConfig(PretrainedConfig):
    """A vision config of which vLLM reads what is given, and a language model of any kind."""

    model_type = "internvl_chat"

    def __init__(
        self,
        vision_config: dict[str, Any] | None = None,
        llm_config: dict[str, Any] | None = None,
        **others: Any,
    ) -> None:
        self.vision_config = PretrainedConfig(**(vision_config or {}))
        text = dict(llm_config or {"model_type": "qwen2"})
        self.llm_config = AutoConfig.for_model(text.pop("model_type"), **text)
        super().__init__(**others)
