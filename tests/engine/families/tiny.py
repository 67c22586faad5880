"""TinyFamily: a family of models as a checkpoint that a test builds, and what all of them share."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file

SEED = 20
GAIN = 1.5
"""How much a matrix enlarges what passes through it."""

WEIGHTS = "model.safetensors"

TEXT: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 32,
    "max_position_embeddings": 2048,
}
"""A language model; 32 is the smallest head that vLLM has on the CPU."""

VISION: Mapping[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}
"""A vision tower, in the words of CLIP and SigLIP."""

CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% for part in message.content %}{% if part.type == 'image' %}IMAGE"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""A chat template; `IMAGE` is to be replaced by how the family writes an image."""

TURNS = ("<|im_start|>", "<|im_end|>")
"""The special tokens of `CHAT`."""


@dataclass(frozen=True, slots=True)
class TinyFamily:
    """One family: how its checkpoint is built, and how Bifocal is to run it."""

    name: str
    """What the test is called."""

    architecture: str
    """vLLM's name of the model class."""

    build: Callable[[Path], None]
    """Writes a checkpoint with tokenizer and processor into a folder."""

    placeholder: str
    """The text of the family's image token, to be typed by a person."""

    settings: Mapping[str, object] = field(default_factory=dict)
    """Settings of Bifocal beside the model and the topology."""

    split: bool = True
    """Whether it runs as two engines as well as one."""


def chat_template(image: str) -> str:
    """`CHAT` with the family's image in it."""
    return CHAT.replace("IMAGE", image)


def ids_of(tokenizer: Any, **names: str) -> dict[str, int]:
    """Ids of tokens, under the names that a config has for them."""
    return {name: tokenizer.convert_tokens_to_ids(token) for name, token in names.items()}


def save(
    model: Any,
    processor: Any,
    folder: Path,
    renamed: Mapping[str, str] | None = None,
    embedding: float = 1.0,
) -> None:
    """Draw the weights and write everything; `renamed` are beginnings of names, old to new.

    transformers writes some towers under names that published checkpoints, and vLLM, do not have.
    """
    draw_weights(model, processor.tokenizer, embedding)
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    if renamed:
        weights = load_file(folder / WEIGHTS)
        named = {_rename(name, renamed): tensor for name, tensor in weights.items()}
        save_file(named, folder / WEIGHTS, metadata={"format": "pt"})


def draw_weights(model: Any, tokenizer: Any, embedding: float) -> None:
    """Random weights that keep the size of what passes through, so that an image makes itself felt.

    transformers' own are so small that every question has the same answer. Tokens that are not one
    letter are never answered: the text of an answer thus tells every one of its tokens.
    `embedding` is the spread of the words' own vectors.
    """
    source = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                # Of three dimensions are the matrices of experts, one behind the other.
                inputs = parameter.shape[-1] if parameter.ndim == 3 else parameter[0].numel()
                spread = GAIN / math.sqrt(inputs)
                parameter.normal_(0, spread, generator=source)
        model.get_input_embeddings().weight.normal_(0, embedding, generator=source)
        for name, vector in model.named_parameters():
            if name.endswith("bias"):
                vector.zero_()
            elif vector.ndim == 1 and vector.min() < vector.max():
                # Not the scales of norms: single rows, such as CLIP's for the class.
                vector.normal_(0, GAIN / math.sqrt(vector.numel()), generator=source)
        silent = [
            number
            for token, number in tokenizer.get_vocab().items()
            if len(token) != 1 or not token.isascii()
        ]
        model.get_output_embeddings().weight[silent] = 0


def _rename(name: str, renamed: Mapping[str, str]) -> str:
    for old, new in renamed.items():
        if name.startswith(old):
            return new + name.removeprefix(old)
    return name
