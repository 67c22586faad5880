"""Pixtral and Mistral 3, tiny: pictures of any shape, with a token at the end of each line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.families.llava import llama_config
from tests.engine.families.tiny import TURNS, VISION, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

IMAGE, BREAK, END = "[IMG]", "[IMG_BREAK]", "[IMG_END]"
PATCH = 16
TOWER = {"model_type": "pixtral", **VISION, "image_size": 128, "patch_size": PATCH}


def pixtral(folder: Path) -> None:
    """A row for each patch."""
    from transformers import LlavaConfig, LlavaForConditionalGeneration

    tokenizer = _tokenizer()
    config = LlavaConfig(
        text_config={**llama_config(tokenizer), "model_type": "mistral"},
        vision_config=TOWER,
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
        image_seq_length=1,
        **ids_of(tokenizer, image_token_index=IMAGE),
    )
    save(LlavaForConditionalGeneration(config), _processor(tokenizer, 1), folder)


def mistral3(folder: Path) -> None:
    """A row for four patches."""
    from transformers import Mistral3Config, Mistral3ForConditionalGeneration

    tokenizer = _tokenizer()
    config = Mistral3Config(
        text_config={**llama_config(tokenizer), "model_type": "mistral"},
        vision_config=TOWER,
        spatial_merge_size=2,
        tie_word_embeddings=False,
        **ids_of(tokenizer, image_token_index=IMAGE),
    )
    save(Mistral3ForConditionalGeneration(config), _processor(tokenizer, 2), folder)


def _tokenizer() -> Any:
    tokenizer = byte_level((*TURNS, IMAGE, BREAK, END), template=chat_template(IMAGE))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    return tokenizer


def _processor(tokenizer: Any, merged: int) -> Any:
    from transformers import PixtralImageProcessor, PixtralProcessor

    return PixtralProcessor(
        PixtralImageProcessor(size={"longest_edge": 128}, patch_size=PATCH),
        tokenizer,
        patch_size=PATCH,
        spatial_merge_size=merged,
        chat_template=tokenizer.chat_template,
    )


FAMILIES = (
    TinyFamily("pixtral", "LlavaForConditionalGeneration", pixtral, IMAGE),
    TinyFamily("mistral3", "Mistral3ForConditionalGeneration", mistral3, IMAGE),
)
