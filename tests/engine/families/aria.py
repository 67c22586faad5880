"""Aria, tiny: a fixed number of queries asks the tower, and a language model with experts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from tests.engine.families.tiny import (
    TEXT,
    TURNS,
    VISION,
    TinyFamily,
    chat_template,
    ids_of,
    save,
)
from tests.unit.tiny_tokenizers import byte_level

IMAGE, BEFORE, BEHIND = "<|img|>", "<fim_prefix>", "<fim_suffix>"
SIDE, PATCH, QUERIES = 980, 140, 4
"""980 pixels is what the processor asks for, whatever its files say."""


def aria(folder: Path) -> None:
    """Four experts a layer, two for each token."""
    from transformers import (
        AriaConfig,
        AriaForConditionalGeneration,
        AriaImageProcessor,
        AriaProcessor,
    )

    tokenizer = _tokenizer()
    text = {name: value for name, value in TEXT.items() if name != "intermediate_size"}
    config = AriaConfig(
        text_config={
            "model_type": "aria_text",
            **text,
            "intermediate_size": 64,
            "vocab_size": len(tokenizer),
            "moe_num_experts": 4,
            "moe_num_shared_experts": 1,
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
            **ids_of(tokenizer, pad_token_id="<|im_end|>"),
        },
        vision_config={**VISION, "image_size": SIDE, "patch_size": PATCH},
        projector_patch_to_query_dict={(SIDE // PATCH) ** 2: QUERIES},
        **ids_of(tokenizer, image_token_index=IMAGE),
    )
    processor = AriaProcessor(
        AriaImageProcessor(),
        tokenizer,
        chat_template=tokenizer.chat_template,
        size_conversion={SIDE: QUERIES},
    )
    save(AriaForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    made = byte_level((*TURNS, IMAGE, BEFORE, BEHIND))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        extra_special_tokens={"image_token": IMAGE},
    )
    tokenizer.chat_template = chat_template(BEFORE + IMAGE + BEHIND)
    return tokenizer


FAMILIES = (TinyFamily("aria", "AriaForConditionalGeneration", aria, IMAGE),)
