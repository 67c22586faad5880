"""Idefics3, tiny: tiles that are written out in the prompt, row by row."""

from __future__ import annotations

from pathlib import Path

from tests.engine.families.llava import llama_config
from tests.engine.families.tiny import TURNS, VISION, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

IMAGE, AROUND = "<image>", "<fake_token_around_image>"
ROWS = tuple(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7))
TILE = 364


def idefics3(folder: Path) -> None:
    """Tiles of 364 pixels, as Bifocal's row has them, of four tokens each."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
    )

    special = (*TURNS, IMAGE, AROUND, "<end_of_utterance>", "<global-img>", *ROWS)
    tokenizer = byte_level(special, template=chat_template(IMAGE))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    config = Idefics3Config(
        text_config=llama_config(tokenizer),
        vision_config={**VISION, "image_size": TILE, "patch_size": TILE // 4},
        scale_factor=2,
        **ids_of(tokenizer, image_token_id=IMAGE, pad_token_id="<|im_end|>"),
    )
    processor = Idefics3Processor(
        Idefics3ImageProcessor(size={"longest_edge": 2 * TILE}),
        tokenizer,
        image_seq_len=4,
        chat_template=tokenizer.chat_template,
    )
    save(Idefics3ForConditionalGeneration(config), processor, folder)


FAMILIES = (TinyFamily("idefics3", "Idefics3ForConditionalGeneration", idefics3, IMAGE, True),)
