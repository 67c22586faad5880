"""The demo model's training forward pass: Qwen2.5-VL, for batches that share one layout.

The same arithmetic as the published architecture, without loops over pictures and windows: the
pictures of a batch share a bucket, and are kept in window order throughout the vision tower.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .export import HEADS, HIDDEN, LAYERS, TEXT_MLP, VISION_LAYERS, VISION_MLP
from .layout import Layout, patch_positions, picture_slots, positions, window_order
from .tokenizer import SIZE

HEAD = HIDDEN // HEADS
FULL_ATTENTION = (1, 3)
THETA = 100.0
SECTIONS = (8, 12, 12)
PIXELS = 3 * 14 * 14


def norm(x: Tensor, weight: Tensor) -> Tensor:
    """RMS norm over the last axis, in float32."""
    y = x.float()
    y = y * torch.rsqrt(y.square().mean(-1, keepdim=True) + 1e-6)
    return y.to(x.dtype) * weight.to(x.dtype)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    return F.linear(x, weight.to(x.dtype), None if bias is None else bias.to(x.dtype))


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary position encoding. x [b, n, heads, d]; cos, sin [n, d]."""
    y = x.float()
    half = torch.cat((-y[..., HEAD // 2 :], y[..., : HEAD // 2]), -1)
    return (y * cos[:, None] + half * sin[:, None]).to(x.dtype)


def before_attention(
    x: Tensor, scale: Tensor, weight: Tensor, bias: Tensor, cos: Tensor, sin: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """x [b, n, hidden] to queries, keys, values [b, n, heads, d]."""
    qkv = linear(norm(x, scale), weight, bias).unflatten(-1, (3, HEADS, HEAD))
    q, k, v = qkv.unbind(2)
    return rotate(q, cos, sin), rotate(k, cos, sin), v.contiguous()


def after_attention(
    x: Tensor,
    mixed: Tensor,
    out: Tensor,
    out_bias: Tensor | None,
    scale: Tensor,
    gate_up: Tensor,
    gate_up_bias: Tensor | None,
    down: Tensor,
    down_bias: Tensor | None,
) -> Tensor:
    """The rest of a block. x [b, n, hidden]; mixed [b, n, heads, d]."""
    x = x + linear(mixed.flatten(2), out, out_bias)
    gate, up = linear(norm(x, scale), gate_up, gate_up_bias).chunk(2, -1)
    return x + linear(F.silu(gate) * up, down, down_bias)


def attend(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None, causal: bool = False
) -> Tensor:
    """Attention of [b, n, heads, d]."""
    q, k, v = q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal).transpose(1, 2)


def attend_windows(
    q: Tensor, k: Tensor, v: Tensor, bucket: tuple[int, int], ends: Tensor
) -> Tensor:
    """Attention within windows, in window order. `ends` [b * windows + 1] cumulative lengths."""
    if q.is_cuda:
        flat = (part.flatten(0, 1) for part in (q, k, v))
        out = torch.ops.aten._flash_attention_forward(*flat, ends, ends, 64, 64, 0.0, False, False)[
            0
        ]
        return out.view_as(q)
    sizes = [4 * length for length in window_order(bucket).lengths]
    parts = zip(*(part.split(sizes, 1) for part in (q, k, v)), strict=True)
    return torch.cat([attend(*part) for part in parts], 1)


class Block(nn.Module):
    """The weights of a transformer block, projections that read the same input fused."""

    def __init__(self, mlp: int, biases: bool) -> None:
        super().__init__()

        def weight(rows: int, columns: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(rows, columns) / math.sqrt(columns))

        def bias(rows: int) -> nn.Parameter | None:
            return nn.Parameter(torch.zeros(rows)) if biases else None

        self.norm1 = nn.Parameter(torch.ones(HIDDEN))
        self.qkv = weight(3 * HIDDEN, HIDDEN)
        self.qkv_bias = nn.Parameter(torch.zeros(3 * HIDDEN))
        self.out = nn.Parameter(weight(HIDDEN, HIDDEN) * 0.3)
        self.out_bias = bias(HIDDEN)
        self.norm2 = nn.Parameter(torch.ones(HIDDEN))
        self.gate_up = weight(2 * mlp, HIDDEN)
        self.gate_up_bias = bias(2 * mlp)
        self.down = nn.Parameter(weight(HIDDEN, mlp) * 0.3)
        self.down_bias = bias(HIDDEN)


class DemoModel(nn.Module):
    """Pictures and tokens in, hidden states out."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Parameter(torch.randn(HIDDEN, 2 * PIXELS) / math.sqrt(PIXELS) / 1.4)
        self.vision = nn.ModuleList(Block(VISION_MLP, True) for _ in range(VISION_LAYERS))
        self.merge_norm = nn.Parameter(torch.ones(HIDDEN))
        self.merge_in = nn.Parameter(torch.randn(4 * HIDDEN, 4 * HIDDEN) / math.sqrt(4 * HIDDEN))
        self.merge_in_bias = nn.Parameter(torch.zeros(4 * HIDDEN))
        self.merge_out = nn.Parameter(torch.randn(HIDDEN, 4 * HIDDEN) / math.sqrt(4 * HIDDEN))
        self.merge_out_bias = nn.Parameter(torch.zeros(HIDDEN))
        self.embed = nn.Parameter(torch.randn(SIZE, HIDDEN) * 0.05)
        self.text = nn.ModuleList(Block(TEXT_MLP, False) for _ in range(LAYERS))
        self.norm = nn.Parameter(torch.ones(HIDDEN))
        self.before: Any = before_attention
        self.after: Any = after_attention

    def compile(self) -> None:  # type: ignore[override]
        """Fuse what lies between attentions; shapes stay free."""
        self.before = torch.compile(before_attention, dynamic=True)
        self.after = torch.compile(after_attention, dynamic=True)

    def run(self, block: Any, x: Tensor, angles: tuple[Tensor, Tensor], mix: Any) -> Tensor:
        """One block; `mix` is its attention."""
        q, k, v = self.before(x, block.norm1, block.qkv, block.qkv_bias, *angles)
        weights = (block.out, block.out_bias, block.norm2, block.gate_up, block.gate_up_bias)
        return self.after(x, mix(q, k, v), *weights, block.down, block.down_bias)

    def encode(self, patches: Tensor, bucket: tuple[int, int]) -> Tensor:
        """[b, 4 n, 588] normalised patches in window order -> [b, n, hidden], row by row."""
        folded = self.patch.view(HIDDEN, 3, 2, -1).sum(2).flatten(1)
        x = linear(patches, folded)
        angles = vision_angles(bucket, x.device)
        ends = window_ends(bucket, len(x), x.device)
        for i, block in enumerate(self.vision):
            if i in FULL_ATTENTION:
                x = self.run(block, x, angles, attend)
            else:
                x = self.run(
                    block, x, angles, lambda q, k, v: attend_windows(q, k, v, bucket, ends)
                )
        x = norm(x, self.merge_norm).unflatten(1, (-1, 4)).flatten(2)
        x = F.gelu(linear(x, self.merge_in, self.merge_in_bias))
        x = linear(x, self.merge_out, self.merge_out_bias)
        return x[:, rows_first(bucket, x.device)]

    def read(self, tokens: Tensor, visual: list[Tensor], layout: Layout) -> Tensor:
        """[b, length] tokens and the encodings of each picture -> [b, length, hidden]."""
        x = F.embedding(tokens, self.embed).to(torch.bfloat16 if tokens.is_cuda else torch.float32)
        if visual:
            slots = constant(layout, "slots", x.device)
            x = x.index_copy(1, slots, torch.cat(visual, 1).to(x.dtype))
        angles = text_angles(layout, x.device)
        mask, cut = constant(layout, "mask", x.device), layout.prefix

        def mix(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
            first = attend(q[:, :cut], k[:, :cut], v[:, :cut], causal=True)
            return torch.cat([first, attend(q[:, cut:], k, v, mask=mask)], 1)

        for block in self.text:
            x = self.run(block, x, angles, mix)
        return norm(x, self.norm)

    def logits(self, hidden: Tensor) -> Tensor:
        return linear(hidden, self.embed).float()


def vision_angles_raw(bucket: tuple[int, int]) -> Tensor:
    frequency = 10000.0 ** (-torch.arange(0, HEAD // 2, 2) / (HEAD // 2))
    place = torch.from_numpy(patch_positions(bucket)).float()
    return (place[:, :, None] * frequency).flatten(1).repeat(1, 2)


@cache
def vision_angles(bucket: tuple[int, int], device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines [4 n, d] of the vision tower's rotary encoding, in window order."""
    angle = vision_angles_raw(bucket).to(device)
    return angle.cos(), angle.sin()


@cache
def window_ends(bucket: tuple[int, int], batch: int, device: torch.device) -> Tensor:
    """Cumulative window lengths of a whole batch, in patches, from 0."""
    lengths = torch.tensor(window_order(bucket).lengths * batch) * 4
    return F.pad(lengths.cumsum(0), (1, 0)).to(device, torch.int32)


@cache
def rows_first(bucket: tuple[int, int], device: torch.device) -> Tensor:
    """The permutation from window order to row by row."""
    return torch.from_numpy(window_order(bucket).back).to(device)


@cache
def text_angles(layout: Layout, device: torch.device) -> tuple[Tensor, Tensor]:
    """Cosines and sines [length, d] of M-RoPE."""
    frequency = THETA ** (-torch.arange(0, HEAD, 2) / HEAD)
    axis = torch.repeat_interleave(torch.arange(3), torch.tensor(SECTIONS))
    place = torch.from_numpy(positions(layout)).float()
    angle = (place[axis].T * frequency).repeat(1, 2).to(device)
    return angle.cos(), angle.sin()


@cache
def constant(layout: Layout, what: str, device: torch.device) -> Tensor:
    """`slots` or `mask` of a layout, on the device."""
    if what == "slots":
        return torch.from_numpy(picture_slots(layout)).to(device)
    return segment_mask(layout, device)


def segment_mask(layout: Layout, device: torch.device) -> Tensor:
    """[sum of segments, length] what a segment's tokens see: the prefix, and their own past."""
    lengths = torch.tensor(layout.segments, device=device)
    owner = torch.repeat_interleave(torch.arange(len(lengths), device=device), lengths)
    own = (owner[:, None] == owner[None]).tril()
    return F.pad(own, (layout.prefix, 0), value=True)
