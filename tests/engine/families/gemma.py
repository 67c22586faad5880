"""Gemma 3, tiny: SigLIP's tower, and an image that is written between line breaks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from transformers import PreTrainedTokenizerFast

from tests.engine.families.tiny import TEXT, VISION, TinyFamily, ids_of, save
from tests.unit import tiny_tokenizers

BEGIN, IMAGE, END = "<start_of_image>", "<image_soft_token>", "<end_of_image>"
BREAKS = ["\n\n", "\n\n\n", "\n\n\n\n"]
"""Runs of line breaks that are one token; an image begins and ends with the first."""

SIZE = {"height": 56, "width": 56}


def gemma3(folder: Path) -> None:
    """One layer with a sliding window, one without; images attend to themselves both ways."""
    from transformers import (
        Gemma3Config,
        Gemma3ForConditionalGeneration,
        Gemma3ImageProcessor,
        Gemma3Processor,
    )

    tokenizer = _tokenizer()
    config = Gemma3Config(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 32,
            "query_pre_attn_scalar": TEXT["head_dim"],
            **ids_of(tokenizer, pad_token_id="<bos>", bos_token_id="<bos>"),
            **ids_of(tokenizer, eos_token_id="<end_of_turn>"),
        },
        vision_config={**VISION, "image_size": 56, "patch_size": 14, "vision_use_head": False},
        mm_tokens_per_image=4,
        **ids_of(tokenizer, boi_token_index=BEGIN, eoi_token_index=END, image_token_index=IMAGE),
    )
    processor = Gemma3Processor(
        Gemma3ImageProcessor(size=SIZE),
        tokenizer,
        chat_template=tokenizer.chat_template,
        image_seq_length=4,
    )
    renamed = {"vision_tower.": "vision_tower.vision_model."}
    # One table is both the words' vectors and the output: large ones would repeat the last word.
    small = 1 / TEXT["hidden_size"]
    save(Gemma3ForConditionalGeneration(config), processor, folder, renamed, small)


def _tokenizer() -> Any:
    made = tiny_tokenizers.gemma()
    made.add_tokens([*BREAKS, IMAGE, END])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made.backend_tokenizer,
        bos_token="<bos>",
        eos_token="<end_of_turn>",
        pad_token="<bos>",
        extra_special_tokens={"boi_token": BEGIN, "image_token": IMAGE, "eoi_token": END},
    )
    tokenizer.chat_template = tiny_tokenizers.GEMMA_TURNS
    return tokenizer


FAMILIES = (TinyFamily("gemma3", "Gemma3ForConditionalGeneration", gemma3, BEGIN),)
