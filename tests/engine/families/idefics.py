"""Idefics3 and SmolVLM, tiny: tiles that are written out in the prompt, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.families.llava import llama_config
from tests.engine.families.tiny import TURNS, VISION, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

IMAGE, AROUND = "<image>", "<fake_token_around_image>"
ROWS = tuple(f"<row_{row}_col_{column}>" for row in range(1, 7) for column in range(1, 7))
TILE, SMOL_TILE = 364, 384
"""Sides in pixels, as Bifocal's rows have them."""


def idefics3(folder: Path) -> None:
    """Four tokens a tile."""
    from transformers import (
        Idefics3Config,
        Idefics3ForConditionalGeneration,
        Idefics3ImageProcessor,
        Idefics3Processor,
    )

    tokenizer = _tokenizer()
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


def smolvlm(folder: Path) -> None:
    """The same with larger tiles."""
    from transformers import (
        SmolVLMConfig,
        SmolVLMForConditionalGeneration,
        SmolVLMImageProcessor,
        SmolVLMProcessor,
        SmolVLMVideoProcessor,
    )

    tokenizer = _tokenizer()
    config = SmolVLMConfig(
        text_config=llama_config(tokenizer),
        vision_config={**VISION, "image_size": SMOL_TILE, "patch_size": SMOL_TILE // 4},
        scale_factor=2,
        **ids_of(tokenizer, image_token_id=IMAGE, pad_token_id="<|im_end|>"),
    )
    processor = SmolVLMProcessor(
        SmolVLMImageProcessor(
            size={"longest_edge": 2 * SMOL_TILE}, max_image_size={"longest_edge": SMOL_TILE}
        ),
        tokenizer,
        SmolVLMVideoProcessor(),
        image_seq_len=4,
        chat_template=tokenizer.chat_template,
    )
    save(SmolVLMForConditionalGeneration(config), processor, folder)


def _tokenizer() -> Any:
    special = (*TURNS, IMAGE, AROUND, "<end_of_utterance>", "<global-img>", *ROWS)
    tokenizer = byte_level(special, template=chat_template(IMAGE))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    return tokenizer


FAMILIES = (
    TinyFamily("idefics3", "Idefics3ForConditionalGeneration", idefics3, IMAGE),
    TinyFamily("smolvlm", "SmolVLMForConditionalGeneration", smolvlm, IMAGE),
)
