"""LLaVA-1.5, tiny: CLIP's tower, one size for every picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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

IMAGE, VIDEO = "<image>", "<video>"
SIDE = {"shortest_edge": 56}
CROP = {"height": 56, "width": 56}
GRIDS = [[56, 112], [112, 56], [112, 112]]
NO_HEAD = {"vision_use_head": False}
CLIP_NAMES = {"vision_tower.": "vision_tower.vision_model."}
"""The names that published checkpoints have."""


def llava(folder: Path) -> None:
    """Rows of the tower's last layer but one, without the first."""
    from transformers import (
        CLIPImageProcessor,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = llava_tokenizer()
    config = LlavaConfig(
        text_config=llama_config(tokenizer),
        vision_config=clip_config(),
        image_seq_length=16,
        **ids_of(tokenizer, image_token_index=IMAGE),
    )
    processor = LlavaProcessor(
        CLIPImageProcessor(size=SIDE, crop_size=CROP),
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
        image_token=IMAGE,
        num_additional_image_tokens=1,
    )
    save(LlavaForConditionalGeneration(config), processor, folder, CLIP_NAMES)


def llava_next(folder: Path) -> None:
    """The whole picture and its tiles, with a learned row between lines of patches."""
    from transformers import (
        LlavaNextConfig,
        LlavaNextForConditionalGeneration,
        LlavaNextImageProcessor,
        LlavaNextProcessor,
    )

    tokenizer = llava_tokenizer()
    config = LlavaNextConfig(
        text_config=llama_config(tokenizer),
        vision_config=clip_config(),
        image_grid_pinpoints=GRIDS,
        **ids_of(tokenizer, image_token_index=IMAGE),
    )
    processor = LlavaNextProcessor(
        LlavaNextImageProcessor(size=SIDE, crop_size=CROP, image_grid_pinpoints=GRIDS),
        tokenizer,
        patch_size=14,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
        image_token=IMAGE,
        num_additional_image_tokens=1,
    )
    save(LlavaNextForConditionalGeneration(config), processor, folder, CLIP_NAMES)


def llava_onevision(folder: Path) -> None:
    """SigLIP's tower, and tiles that are made smaller where there are too many."""
    from transformers import (
        LlavaOnevisionConfig,
        LlavaOnevisionForConditionalGeneration,
        LlavaOnevisionImageProcessor,
        LlavaOnevisionProcessor,
        LlavaOnevisionVideoProcessor,
    )

    tokenizer = llava_tokenizer()
    config = LlavaOnevisionConfig(
        text_config={**llama_config(tokenizer), "model_type": "qwen2"},
        vision_config={**clip_config(), "model_type": "siglip_vision_model", **NO_HEAD},
        image_grid_pinpoints=GRIDS,
        **ids_of(tokenizer, image_token_index=IMAGE, video_token_index=VIDEO),
    )
    processor = LlavaOnevisionProcessor(
        LlavaOnevisionImageProcessor(size=CROP, image_grid_pinpoints=GRIDS),
        tokenizer,
        LlavaOnevisionVideoProcessor(size=CROP),
        num_image_tokens=16,
        vision_feature_select_strategy="full",
        chat_template=tokenizer.chat_template,
    )
    save(LlavaOnevisionForConditionalGeneration(config), processor, folder, CLIP_NAMES)


def llava_tokenizer() -> Any:
    """As LLaVA's, with a token for an image."""
    tokenizer = byte_level((*TURNS, IMAGE, VIDEO), template=chat_template(IMAGE + "\n"))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    return tokenizer


def llama_config(tokenizer: Any) -> dict[str, Any]:
    """Llama as the language model."""
    eos = ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>")
    return {"model_type": "llama", **TEXT, "vocab_size": len(tokenizer), **eos}


def clip_config() -> dict[str, Any]:
    """4 x 4 patches."""
    return {"model_type": "clip_vision_model", **VISION, "image_size": 56, "patch_size": 14}


FAMILIES = (
    TinyFamily("llava", "LlavaForConditionalGeneration", llava, IMAGE),
    TinyFamily("llava_next", "LlavaNextForConditionalGeneration", llava_next, IMAGE),
    TinyFamily("llava_onevision", "LlavaOnevisionForConditionalGeneration", llava_onevision, IMAGE),
)
