"""Command A Vision, tiny: tiles, each of which ends with a token of its own."""

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

IMAGE, LINE_BREAK = "<|IMG_PATCH|>", "<|IMG_LINE_BREAK|>"
START, END = "<|START_OF_IMG|>", "<|END_OF_IMG|>"


def command_a_vision(folder: Path) -> None:
    """Up to four tiles of four tokens each, and a thumbnail."""
    from transformers import (
        Cohere2VisionConfig,
        Cohere2VisionForConditionalGeneration,
        Cohere2VisionImageProcessor,
        Cohere2VisionProcessor,
    )

    tokenizer = _tokenizer()
    config = Cohere2VisionConfig(
        text_config={
            "model_type": "cohere2",
            "architectures": ["Cohere2ForCausalLM"],
            **TEXT,
            "vocab_size": len(tokenizer),
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 32,
            "logit_scale": 1.0,
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
            **ids_of(tokenizer, pad_token_id="<|im_end|>"),
        },
        vision_config={**VISION, "image_size": 56, "patch_size": 14, "vision_use_head": False},
        alignment_intermediate_size=128,
        **ids_of(tokenizer, image_token_id=IMAGE),
    )
    processor = Cohere2VisionProcessor(
        # Its patch size is the square root of a tile's number of tokens.
        Cohere2VisionImageProcessor(size={"height": 56, "width": 56}, max_patches=4, patch_size=2),
        tokenizer,
        chat_template=tokenizer.chat_template,
    )
    renamed = {"model.vision_tower.": "model.vision_tower.vision_model."}
    # One table is both the words' vectors and the output: large ones would repeat the last word.
    small = 1 / TEXT["hidden_size"]
    save(Cohere2VisionForConditionalGeneration(config), processor, folder, renamed, small)


def _tokenizer() -> Any:
    made = byte_level((*TURNS, START, IMAGE, LINE_BREAK, END))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        extra_special_tokens={
            "boi_token": START,
            "eoi_token": END,
            "image_token": IMAGE,
            "img_line_break_token": LINE_BREAK,
        },
    )
    tokenizer.chat_template = chat_template(IMAGE)
    return tokenizer


FAMILIES = (
    TinyFamily(
        "command_a_vision", "Cohere2VisionForConditionalGeneration", command_a_vision, IMAGE
    ),
)
