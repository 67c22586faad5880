"""GLM-4.1V and GLM-4.5V, tiny: pictures of any shape; the second with experts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.engine.families.tiny import TEXT, TURNS, TinyFamily, chat_template, ids_of, save
from tests.unit.tiny_tokenizers import byte_level

IMAGE, VIDEO = "<|image|>", "<|video|>"
BEGIN, END = "<|begin_of_image|>", "<|end_of_image|>"
BEGIN_VIDEO, END_VIDEO = "<|begin_of_video|>", "<|end_of_video|>"
SIZE = {"shortest_edge": 4 * 28 * 28, "longest_edge": 32 * 28 * 28}
TOWER = {
    "depth": 2,
    "hidden_size": 64,
    "num_heads": 2,
    "image_size": 56,
    "out_hidden_size": TEXT["hidden_size"],
    "intermediate_size": 128,
}


def glm4_1v(folder: Path) -> None:
    """Every layer is dense."""
    from transformers import Glm4vConfig, Glm4vForConditionalGeneration

    tokenizer = _tokenizer()
    text = _text(tokenizer)
    config = Glm4vConfig(text_config=text, vision_config=TOWER, **_ids(tokenizer))
    save(Glm4vForConditionalGeneration(config), _processor(tokenizer), folder)


def glm4_5v(folder: Path) -> None:
    """The second layer has four experts, two for each token, and one that all share."""
    from transformers import Glm4vMoeConfig, Glm4vMoeForConditionalGeneration

    tokenizer = _tokenizer()
    text = {
        **_text(tokenizer),
        "moe_intermediate_size": 64,
        "num_experts_per_tok": 2,
        "n_routed_experts": 4,
        "first_k_dense_replace": 1,
        # transformers' config does not have it; the published one does, and vLLM reads it.
        "use_qk_norm": False,
    }
    config = Glm4vMoeConfig(text_config=text, vision_config=TOWER, **_ids(tokenizer))
    save(Glm4vMoeForConditionalGeneration(config), _processor(tokenizer), folder)


def _tokenizer() -> Any:
    special = (*TURNS, IMAGE, VIDEO, BEGIN, END, BEGIN_VIDEO, END_VIDEO)
    tokenizer = byte_level(special, template=chat_template(BEGIN + IMAGE + END))
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    return tokenizer


def _text(tokenizer: Any) -> dict[str, Any]:
    return {
        **TEXT,
        "vocab_size": len(tokenizer),
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10000.0,
            "partial_rotary_factor": 0.5,
            "mrope_section": [2, 3, 3],
        },
        **ids_of(tokenizer, eos_token_id="<|im_end|>", pad_token_id="<|im_end|>"),
    }


def _ids(tokenizer: Any) -> dict[str, int]:
    return ids_of(
        tokenizer,
        image_token_id=IMAGE,
        video_token_id=VIDEO,
        image_start_token_id=BEGIN,
        image_end_token_id=END,
        video_start_token_id=BEGIN_VIDEO,
        video_end_token_id=END_VIDEO,
    )


def _processor(tokenizer: Any) -> Any:
    from transformers import Glm4vImageProcessor, Glm4vProcessor, Glm4vVideoProcessor

    return Glm4vProcessor(
        Glm4vImageProcessor(size=SIZE),
        tokenizer,
        Glm4vVideoProcessor(size=SIZE),
        chat_template=tokenizer.chat_template,
    )


FAMILIES = (
    TinyFamily("glm4_1v", "Glm4vForConditionalGeneration", glm4_1v, IMAGE),
    TinyFamily("glm4_5v", "Glm4vMoeForConditionalGeneration", glm4_5v, IMAGE),
)
