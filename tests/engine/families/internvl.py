"""InternVL as transformers has it, tiny: tiles of a picture, and a thumbnail."""

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

CONTEXT, BEGIN, END, VIDEO = "<IMG_CONTEXT>", "<img>", "</img>", "<video>"
SIZE = {"height": 56, "width": 56}


def internvl(folder: Path) -> None:
    """Up to two tiles of four tokens each."""
    from transformers import (
        GotOcr2ImageProcessor,
        InternVLConfig,
        InternVLForConditionalGeneration,
        InternVLProcessor,
        InternVLVideoProcessor,
    )

    tokenizer = _tokenizer()
    config = InternVLConfig(
        text_config={
            "model_type": "qwen2",
            **TEXT,
            "vocab_size": len(tokenizer),
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
        },
        vision_config={**VISION, "image_size": [56, 56], "patch_size": [14, 14]},
        image_seq_length=4,
        tie_word_embeddings=False,
        **ids_of(tokenizer, image_token_id=CONTEXT),
    )
    processor = InternVLProcessor(
        GotOcr2ImageProcessor(size=SIZE, crop_to_patches=True, min_patches=1, max_patches=2),
        tokenizer,
        InternVLVideoProcessor(size=SIZE),
        image_seq_length=4,
        chat_template=tokenizer.chat_template,
    )
    save(InternVLForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    made = byte_level((*TURNS, CONTEXT, BEGIN, END, VIDEO))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|im_end|>",
        extra_special_tokens={
            "start_image_token": BEGIN,
            "end_image_token": END,
            "context_image_token": CONTEXT,
            "video_token": VIDEO,
        },
    )
    tokenizer.chat_template = chat_template(CONTEXT + "\n")
    return tokenizer


FAMILIES = (TinyFamily("internvl", "InternVLForConditionalGeneration", internvl, CONTEXT),)
