"""The training model's weights under the names of the published checkpoints, and back."""

from __future__ import annotations

import torch
from torch import Tensor

from .export import HIDDEN, TEXT_MLP, VISION_MLP
from .model import Block, DemoModel


def to_checkpoint(model: DemoModel) -> dict[str, Tensor]:
    """Checkpoint names -> weights."""
    state: dict[str, Tensor] = {
        "visual.patch_embed.proj.weight": model.patch.view(HIDDEN, 3, 2, 14, 14),
        "visual.merger.ln_q.weight": model.merge_norm,
        "visual.merger.mlp.0.weight": model.merge_in,
        "visual.merger.mlp.0.bias": model.merge_in_bias,
        "visual.merger.mlp.2.weight": model.merge_out,
        "visual.merger.mlp.2.bias": model.merge_out_bias,
        "model.embed_tokens.weight": model.embed,
        "model.norm.weight": model.norm,
    }
    for i, block in enumerate(model.vision):
        assert isinstance(block, Block)
        state |= {f"visual.blocks.{i}.{name}": value for name, value in vision_block(block).items()}
    for i, block in enumerate(model.text):
        assert isinstance(block, Block)
        state |= {f"model.layers.{i}.{name}": value for name, value in text_block(block).items()}
    return {name: value.detach() for name, value in state.items()}


def vision_block(block: Block) -> dict[str, Tensor]:
    names = {
        "norm1.weight": block.norm1,
        "norm2.weight": block.norm2,
        "attn.qkv.weight": block.qkv,
        "attn.qkv.bias": block.qkv_bias,
        "attn.proj.weight": block.out,
        "attn.proj.bias": block.out_bias,
        "mlp.gate_proj.weight": block.gate_up[:VISION_MLP],
        "mlp.up_proj.weight": block.gate_up[VISION_MLP:],
        "mlp.gate_proj.bias": block.gate_up_bias[:VISION_MLP],
        "mlp.up_proj.bias": block.gate_up_bias[VISION_MLP:],
        "mlp.down_proj.weight": block.down,
        "mlp.down_proj.bias": block.down_bias,
    }
    return names


def text_block(block: Block) -> dict[str, Tensor]:
    names = {
        "input_layernorm.weight": block.norm1,
        "post_attention_layernorm.weight": block.norm2,
        "self_attn.o_proj.weight": block.out,
        "mlp.gate_proj.weight": block.gate_up[:TEXT_MLP],
        "mlp.up_proj.weight": block.gate_up[TEXT_MLP:],
        "mlp.down_proj.weight": block.down,
    }
    for i, part in enumerate("qkv"):
        rows = slice(i * HIDDEN, (i + 1) * HIDDEN)
        names[f"self_attn.{part}_proj.weight"] = block.qkv[rows]
        names[f"self_attn.{part}_proj.bias"] = block.qkv_bias[rows]
    return names


@torch.no_grad()
def load_checkpoint(model: DemoModel, state: dict[str, Tensor]) -> None:
    """Copy a checkpoint's weights into the model."""
    views = to_checkpoint(model)
    if views.keys() != state.keys():
        raise ValueError(f"checkpoint differs in {sorted(views.keys() ^ state.keys())}")
    for name, view in views.items():
        view.copy_(state[name])
