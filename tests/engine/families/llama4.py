"""Llama 4, tiny: tiles with separators between them, and a language model with experts."""

from __future__ import annotations

from pathlib import Path

from tests.engine.families.tiny import TEXT, TURNS, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

IMAGE, PATCH = "<|image|>", "<|patch|>"
MARKS = ("<|image_start|>", "<|image_end|>", "<|tile_x_separator|>", "<|tile_y_separator|>")
SIDE = 56


def llama4(folder: Path) -> None:
    """Up to four tiles of four tokens each; two experts a layer, of which a token has one."""
    from transformers import (
        Llama4Config,
        Llama4ForConditionalGeneration,
        Llama4ImageProcessor,
        Llama4Processor,
    )

    special = (*TURNS, IMAGE, PATCH, *MARKS)
    tokenizer = byte_level(special, template=chat_template(IMAGE))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    width = TEXT["hidden_size"]
    config = Llama4Config(
        text_config={
            **TEXT,
            "vocab_size": len(tokenizer),
            "intermediate_size_mlp": 128,
            "num_local_experts": 2,
            "no_rope_layers": [1, 0],
            "attention_chunk_size": 1024,
            **ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>"),
        },
        vision_config={
            "hidden_size": width,
            # Four patches side by side, from which the adapter makes one row.
            "intermediate_size": 4 * width,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": SIDE,
            "patch_size": 14,
            "vision_output_dim": width,
            "projector_input_dim": width,
            "projector_output_dim": width,
        },
        **ids_of(
            tokenizer,
            boi_token_index="<|image_start|>",
            eoi_token_index="<|image_end|>",
            image_token_index=PATCH,
        ),
    )
    processor = Llama4Processor(
        Llama4ImageProcessor(size={"height": SIDE, "width": SIDE}, max_patches=4),
        tokenizer,
        patch_size=14,
        chat_template=tokenizer.chat_template,
    )
    save(Llama4ForConditionalGeneration(config), processor, folder)


FAMILIES = (TinyFamily("llama4", "Llama4ForConditionalGeneration", llama4, IMAGE),)
