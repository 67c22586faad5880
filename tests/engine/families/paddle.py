"""PaddleOCR-VL, tiny: pictures of any shape, and positions in three dimensions."""

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

IMAGE, VIDEO = "<|IMAGE_PLACEHOLDER|>", "<|video_pad|>"
START, END = "<|IMAGE_START|>", "<|IMAGE_END|>"
SIZE = {"shortest_edge": 4 * 28 * 28, "longest_edge": 32 * 28 * 28}


def paddleocr_vl(folder: Path) -> None:
    """A row for four patches."""
    from transformers import (
        PaddleOCRVLConfig,
        PaddleOCRVLForConditionalGeneration,
        PaddleOCRVLImageProcessor,
        PaddleOCRVLProcessor,
    )

    tokenizer = _tokenizer()
    config = PaddleOCRVLConfig(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "tie_word_embeddings": False,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 10000.0,
                "mrope_section": [4, 6, 6],
            },
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
        },
        vision_config={**VISION, "image_size": 56, "patch_size": 14},
        tie_word_embeddings=False,
        **ids_of(
            tokenizer,
            image_token_id=IMAGE,
            video_token_id=VIDEO,
            vision_start_token_id=START,
            vision_end_token_id=END,
        ),
    )
    processor = PaddleOCRVLProcessor(
        PaddleOCRVLImageProcessor(size=SIZE), tokenizer, chat_template=tokenizer.chat_template
    )
    save(PaddleOCRVLForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    made = byte_level((*TURNS, START, IMAGE, END, VIDEO))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        extra_special_tokens={"image_token": IMAGE},
    )
    tokenizer.chat_template = chat_template(START + IMAGE + END)
    return tokenizer


FAMILIES = (TinyFamily("paddleocr_vl", "PaddleOCRVLForConditionalGeneration", paddleocr_vl, IMAGE),)
