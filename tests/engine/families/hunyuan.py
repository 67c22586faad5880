"""HunyuanOCR, tiny: transformers' own class inside vLLM, which has no halves."""

# The tokens are written with full-width signs.
# ruff: noqa: RUF001

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from tests.engine.families.tiny import (
    TEXT,
    TURNS,
    TinyFamily,
    chat_template,
    ids_of,
    save,
)
from tests.unit.tiny_tokenizers import byte_level

START, END = "<｜hy_place▁holder▁no▁100｜>", "<｜hy_place▁holder▁no▁101｜>"
IMAGE = "<｜hy_place▁holder▁no▁102｜>"
SIZE = {"shortest_edge": 4 * 32 * 32, "longest_edge": 32 * 32 * 32}


def hunyuan_vl(folder: Path) -> None:
    """A row for four patches, one more at the end of each line, and one at either end."""
    from transformers import (
        HunYuanVLConfig,
        HunYuanVLForConditionalGeneration,
        HunYuanVLImageProcessor,
        HunYuanVLProcessor,
    )

    tokenizer = _tokenizer()
    width = TEXT["hidden_size"]
    config = HunYuanVLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "tie_word_embeddings": False,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 4, 4, 4],
            },
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
            **ids_of(tokenizer, pad_token_id="<|im_end|>"),
        },
        vision_config={
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "out_hidden_size": width,
            "max_image_size": 256,
        },
        tie_word_embeddings=False,
        **ids_of(tokenizer, image_token_id=IMAGE, im_start_id=START, im_end_id=END),
    )
    processor = HunYuanVLProcessor(
        HunYuanVLImageProcessor(size=SIZE), tokenizer, chat_template=tokenizer.chat_template
    )
    save(HunYuanVLForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    made = byte_level((*TURNS, START, IMAGE, END))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        extra_special_tokens={
            "image_token": IMAGE,
            "image_start_token": START,
            "image_end_token": END,
        },
    )
    tokenizer.chat_template = chat_template(START + IMAGE + END)
    return tokenizer


FAMILIES = (
    TinyFamily("hunyuan_vl", "HunYuanVLForConditionalGeneration", hunyuan_vl, IMAGE, split=False),
)
