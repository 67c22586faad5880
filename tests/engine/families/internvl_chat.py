"""InternVL in its own format and two of its relatives, tiny: an image is written as plain text, and
the config comes with the model."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from tests.engine.families.tiny import (
    GAIN,
    TEXT,
    TURNS,
    VISION,
    WEIGHTS,
    TinyFamily,
    draw_weights,
    ids_of,
)
from tests.unit.tiny_tokenizers import CHATML_OF_TEXT, byte_level

CONFIG = "configuration_internvl_chat"
TRUSTED = {"trust_remote_code": True}
SIDE, PATCH = 56, 14
WIDTH, HEADS = VISION["hidden_size"], VISION["num_attention_heads"]
DUMMY_HEADS = 7
"""NVLM's tower has so many heads more, to be shared out among eight devices."""


def internvl_chat(folder: Path) -> None:
    """Up to two tiles of four tokens each, and a thumbnail."""
    _save(folder, "internvl_chat", "InternVLChatModel")


def h2ovl_chat(folder: Path) -> None:
    """A picture that is alone is cut into tiles a second time, in another way."""
    _save(folder, "h2ovl_chat", "H2OVLChatModel", use_msac=True, max_dynamic_patch=4)


def nvlm_d(folder: Path) -> None:
    """Tiles have names in the prompt; the projector has another shape."""
    _save(folder, "NVLM_D", "NVLM_D")


def _save(folder: Path, model_type: str, architecture: str, **changes: object) -> None:
    from transformers import Qwen2Config, Qwen2ForCausalLM

    marks = ("<Image>", "</Image>", "<|vision_pad|>", "<img>", "</img>", "<IMG_CONTEXT>")
    tokenizer = byte_level((*TURNS, *marks), template=CHATML_OF_TEXT)
    tokenizer.eos_token = tokenizer.pad_token = "<|im_end|>"
    ids = ids_of(tokenizer, bos_token_id="<|im_start|>", eos_token_id="<|im_end|>")
    text = {**TEXT, "vocab_size": len(tokenizer), "tie_word_embeddings": False, **ids}
    model = Qwen2ForCausalLM(Qwen2Config(**text))
    draw_weights(model, tokenizer, 1.0)
    weights = {f"language_model.{name}": tensor for name, tensor in model.state_dict().items()}
    weights.update(_vision(is_nvlm=architecture == "NVLM_D"))
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    tokenizer.save_pretrained(folder)
    config = {
        **_config({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], **text}),
        "model_type": model_type,
        "architectures": [architecture],
        **changes,
    }
    (folder / "config.json").write_text(json.dumps(config))
    shutil.copy(Path(__file__).with_name(f"{CONFIG}.py"), folder)


def _config(text: dict[str, Any]) -> dict[str, Any]:
    return {
        "auto_map": {"AutoConfig": f"{CONFIG}.InternVLChatConfig"},
        "llm_config": text,
        "vision_config": {
            **VISION,
            "image_size": SIDE,
            "patch_size": PATCH,
            "hidden_act": "gelu",
            "initializer_factor": 1.0,
            "layer_norm_eps": 1e-6,
            "norm_type": "layer_norm",
            "qk_normalization": False,
            "qkv_bias": True,
        },
        "downsample_ratio": 0.5,
        "dynamic_image_size": True,
        "force_image_size": SIDE,
        "min_dynamic_patch": 1,
        "max_dynamic_patch": 2,
        "ps_version": "v2",
        "select_layer": -1,
        "use_thumbnail": True,
    }


def _vision(*, is_nvlm: bool) -> dict[str, torch.Tensor]:
    """The tower and the projector under the names of published checkpoints; no module has them."""
    source = torch.Generator().manual_seed(1)
    weights: dict[str, torch.Tensor] = {}

    def drawn(*shape: int) -> torch.Tensor:
        inputs = torch.Size(shape[1:]).numel()
        return torch.randn(shape, generator=source) * GAIN / inputs**0.5

    def linear(name: str, outputs: int, *inputs: int, bias: bool = True) -> None:
        weights[f"{name}.weight"] = drawn(outputs, *inputs)
        if bias:
            weights[f"{name}.bias"] = torch.zeros(outputs)

    def norm(name: str, width: int) -> None:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = torch.ones(width), torch.zeros(width)

    attended = (HEADS + DUMMY_HEADS * is_nvlm) * (WIDTH // HEADS)
    inner, outer = VISION["intermediate_size"], TEXT["hidden_size"]
    linear("vision_model.embeddings.patch_embedding", WIDTH, 3, PATCH, PATCH)
    weights["vision_model.embeddings.class_embedding"] = drawn(1, 1, WIDTH)
    weights["vision_model.embeddings.position_embedding"] = drawn(
        1, (SIDE // PATCH) ** 2 + 1, WIDTH
    )
    for number in range(VISION["num_hidden_layers"]):
        layer = f"vision_model.encoder.layers.{number}"
        linear(f"{layer}.attn.qkv", 3 * attended, WIDTH)
        linear(f"{layer}.attn.proj", WIDTH, attended)
        linear(f"{layer}.mlp.fc1", inner, WIDTH)
        linear(f"{layer}.mlp.fc2", WIDTH, inner)
        for part in ("1", "2"):
            norm(f"{layer}.norm{part}", WIDTH)
            weights[f"{layer}.ls{part}"] = torch.ones(WIDTH)
    norm("mlp1.0", 4 * WIDTH)
    between = TEXT["intermediate_size"] if is_nvlm else outer
    linear("mlp1.1", between, 4 * WIDTH, bias=not is_nvlm)
    linear("mlp1.3", outer, between, bias=not is_nvlm)
    return weights


FAMILIES = (
    TinyFamily("internvl_chat", "InternVLChatModel", internvl_chat, "<image>", TRUSTED),
    TinyFamily("h2ovl_chat", "H2OVLChatModel", h2ovl_chat, "<image>", TRUSTED, split=False),
    TinyFamily("NVLM_D", "NVLM_D", nvlm_d, "<image>\n", TRUSTED),
)
