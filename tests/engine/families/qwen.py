"""Qwen's vision-language models, tiny: Qwen2-VL, Qwen2.5-VL and Qwen3-VL."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.families.tiny import TEXT, TURNS, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

PAD = "<|image_pad|>"
START, END, VIDEO = "<|vision_start|>", "<|vision_end|>", "<|video_pad|>"
IMAGE = START + PAD + END

SIZES = {"heights": (64, 128), "widths": (96, 128)}
"""Two buckets of few tokens, whichever the size of a patch."""


def qwen3_vl(folder: Path) -> None:
    """Two levels of deepstack, whose rows are three times as wide as the model."""
    from transformers import (
        Qwen2VLImageProcessor,
        Qwen3VLConfig,
        Qwen3VLForConditionalGeneration,
        Qwen3VLProcessor,
        Qwen3VLVideoProcessor,
    )

    tokenizer = _tokenizer()
    config = Qwen3VLConfig(
        text_config={**TEXT, **_text(tokenizer), "rope_parameters": _rope([8, 4, 4])},
        vision_config={
            "depth": 3,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "patch_size": 16,
            "out_hidden_size": TEXT["hidden_size"],
            "num_position_embeddings": 64,
            "deepstack_visual_indexes": [0, 1],
        },
        **_ids(tokenizer),
    )
    processor = Qwen3VLProcessor(
        Qwen2VLImageProcessor(patch_size=16),
        tokenizer,
        Qwen3VLVideoProcessor(patch_size=16),
        chat_template=tokenizer.chat_template,
    )
    save(Qwen3VLForConditionalGeneration(config), processor, folder)


def qwen2_vl(folder: Path) -> None:
    """Full attention in every layer of the tower."""
    from transformers import (
        Qwen2VLConfig,
        Qwen2VLForConditionalGeneration,
        Qwen2VLImageProcessor,
        Qwen2VLProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _tokenizer()
    config = Qwen2VLConfig(
        text_config={**TEXT, **_text(tokenizer), "rope_parameters": _rope([4, 6, 6])},
        vision_config={
            "depth": 2,
            "embed_dim": 64,
            "hidden_size": TEXT["hidden_size"],
            "num_heads": 2,
            "mlp_ratio": 2,
        },
        **_ids(tokenizer),
    )
    processor = Qwen2VLProcessor(
        Qwen2VLImageProcessor(),
        tokenizer,
        Qwen2VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    )
    save(Qwen2VLForConditionalGeneration(config), processor, folder)


def qwen2_5_vl(folder: Path) -> None:
    """A tower with windows, and full attention in its second layer."""
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    tokenizer = _tokenizer()
    config = Qwen2_5_VLConfig(
        text_config={**TEXT, **_text(tokenizer), "rope_parameters": _rope([4, 6, 6])},
        vision_config={
            "depth": 2,
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_heads": 2,
            "out_hidden_size": TEXT["hidden_size"],
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        **_ids(tokenizer),
    )
    processor = Qwen2_5_VLProcessor(
        Qwen2VLImageProcessor(),
        tokenizer,
        Qwen2VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    )
    save(Qwen2_5_VLForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    special = (*TURNS, "<|endoftext|>", START, END, PAD, VIDEO)
    tokenizer = byte_level(special, template=chat_template(IMAGE))
    tokenizer.eos_token, tokenizer.pad_token = "<|im_end|>", "<|endoftext|>"
    return tokenizer


def _text(tokenizer: Any) -> dict[str, Any]:
    return {
        "vocab_size": len(tokenizer),
        **ids_of(tokenizer, bos_token_id="<|endoftext|>", eos_token_id="<|im_end|>"),
    }


def _rope(section: list[int]) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": section}


def _ids(tokenizer: Any) -> dict[str, int]:
    return ids_of(
        tokenizer,
        image_token_id=PAD,
        video_token_id=VIDEO,
        vision_start_token_id=START,
        vision_end_token_id=END,
    )


FAMILIES = (
    TinyFamily("qwen3_vl", "Qwen3VLForConditionalGeneration", qwen3_vl, PAD, SIZES),
    TinyFamily("qwen2_5_vl", "Qwen2_5_VLForConditionalGeneration", qwen2_5_vl, PAD, SIZES),
    TinyFamily("qwen2_vl", "Qwen2VLForConditionalGeneration", qwen2_vl, PAD, SIZES),
)
