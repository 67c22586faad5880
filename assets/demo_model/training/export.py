"""The model folder: everything but the weights, and the weights.

python -m assets.demo_model.training.export --random assets/demo_model
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from . import tokenizer as tokens

HIDDEN = 256
LAYERS = 4
HEADS = 4
VISION_LAYERS = 4
VISION_MLP = 896
TEXT_MLP = 896

CHAT_TEMPLATE = """\
{%- for message in messages -%}
<|im_start|>{{ message['role'] }}
{% if message['content'] is string -%}
{{ message['content'] }}
{%- else -%}
{%- for part in message['content'] -%}
{%- if part['type'] in ('image', 'image_url') or 'image' in part or 'image_url' in part -%}
<|vision_start|><|image_pad|><|vision_end|>
{%- elif 'text' in part -%}
{{ part['text'] }}
{%- endif -%}
{%- endfor -%}
{%- endif -%}
<|im_end|>
{% endfor -%}
{%- if add_generation_prompt -%}
<|im_start|>assistant
{% endif -%}
"""


def config() -> dict[str, Any]:
    """The contents of config.json."""
    text: dict[str, Any] = {
        "model_type": "qwen2_5_vl_text",
        "vocab_size": tokens.SIZE,
        "hidden_size": HIDDEN,
        "intermediate_size": TEXT_MLP,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "hidden_act": "silu",
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {
            "rope_type": "default",
            "type": "default",
            "rope_theta": 100.0,
            "mrope_section": [8, 12, 12],
        },
        "tie_word_embeddings": True,
        "attention_dropout": 0.0,
        "initializer_range": 0.02,
        "use_cache": True,
        "use_sliding_window": False,
        "dtype": "bfloat16",
        "bos_token_id": tokens.ENDOFTEXT,
        "eos_token_id": tokens.IM_END,
    }
    vision: dict[str, Any] = {
        "model_type": "qwen2_5_vl",
        "depth": VISION_LAYERS,
        "hidden_size": HIDDEN,
        "intermediate_size": VISION_MLP,
        "num_heads": HEADS,
        "out_hidden_size": HIDDEN,
        "hidden_act": "silu",
        "in_channels": 3,
        "in_chans": 3,
        "patch_size": 14,
        "spatial_patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "tokens_per_second": 2,
        "window_size": 112,
        "fullatt_block_indexes": [1, 3],
        "initializer_range": 0.02,
    }
    return {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"],
        "model_type": "qwen2_5_vl",
        "dtype": "bfloat16",
        "tie_word_embeddings": True,
        "image_token_id": tokens.IMAGE_PAD,
        "video_token_id": tokens.VIDEO_PAD,
        "vision_start_token_id": tokens.VISION_START,
        "vision_end_token_id": tokens.VISION_END,
        "bos_token_id": tokens.ENDOFTEXT,
        "eos_token_id": tokens.IM_END,
        "pad_token_id": tokens.ENDOFTEXT,
        "text_config": text,
        "vision_config": vision,
    }


def write_files(folder: Path) -> None:
    """Every file of the model folder but the weights."""
    folder.mkdir(parents=True, exist_ok=True)
    tokens.build().save(str(folder / "tokenizer.json"))
    (folder / "chat_template.jinja").write_text(CHAT_TEMPLATE)
    files: dict[str, dict[str, Any]] = {
        "config.json": config(),
        "generation_config.json": {
            "bos_token_id": tokens.ENDOFTEXT,
            "eos_token_id": [tokens.IM_END, tokens.ENDOFTEXT],
            "pad_token_id": tokens.ENDOFTEXT,
            "do_sample": False,
        },
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "model_max_length": 32768,
            "eos_token": "<|im_end|>",
            "pad_token": "<|endoftext|>",
            "clean_up_tokenization_spaces": False,
            "add_prefix_space": False,
        },
        "preprocessor_config.json": {
            "image_processor_type": "Qwen2VLImageProcessor",
            "processor_class": "Qwen2_5_VLProcessor",
            "do_convert_rgb": True,
            "do_resize": True,
            "do_rescale": True,
            "do_normalize": True,
            "rescale_factor": 1 / 255,
            "image_mean": [0.48145466, 0.4578275, 0.40821073],
            "image_std": [0.26862954, 0.26130258, 0.27577711],
            "patch_size": 14,
            "temporal_patch_size": 2,
            "merge_size": 2,
            "min_pixels": 56 * 56,
            "max_pixels": 1280 * 28 * 28,
        },
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")


def write_weights(folder: Path, state: dict[str, Tensor]) -> None:
    """The weights in bf16, under the names of the published checkpoints."""
    packed = {
        name: value.detach().to("cpu", torch.bfloat16).contiguous() for name, value in state.items()
    }
    save_file(packed, str(folder / "model.safetensors"), metadata={"format": "pt"})


def read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of a model folder."""
    return load_file(str(folder / "model.safetensors"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--random", action="store_true", help="write random weights, too")
    arguments = parser.parse_args()
    write_files(arguments.folder)
    if arguments.random:
        from .checkpoint import to_checkpoint
        from .model import DemoModel

        torch.manual_seed(0)
        write_weights(arguments.folder, to_checkpoint(DemoModel()))


if __name__ == "__main__":
    main()
