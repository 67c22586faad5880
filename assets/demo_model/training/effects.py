"""What happens to a picture before the model sees it: JPEG, enlargement, and other worlds."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, Final

import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from .layout import PATCH, grid, window_order
from .pictures import Pictures
from .render import draw

MEAN: Final = (0.48145466, 0.4578275, 0.40821073)
STD: Final = (0.26862954, 0.26130258, 0.27577711)
LUMA: Final = (
    (16, 11, 10, 16, 24, 40, 51, 61), (12, 12, 14, 19, 26, 58, 60, 55),
    (14, 13, 16, 24, 40, 57, 69, 56), (14, 17, 22, 29, 51, 87, 80, 62),
    (18, 22, 37, 56, 68, 109, 103, 77), (24, 35, 55, 64, 81, 104, 113, 92),
    (49, 64, 78, 87, 103, 121, 120, 101), (72, 92, 95, 98, 112, 100, 103, 99),
)  # fmt: skip
"""JPEG's standard quantisation of brightness (ITU T.81, table K.1)."""


@cache
def constants(device: torch.device) -> tuple[Tensor, Tensor, Tensor]:
    """Mean and spread of the image processor [3, 1, 1], and JPEG's table [1, 8, 8]."""
    values = (MEAN, STD, LUMA)
    mean, std, luma = (torch.tensor(value, dtype=torch.float32, device=device) for value in values)
    return mean[:, None, None], std[:, None, None], luma[None]


@cache
def order(bucket: tuple[int, int], device: torch.device) -> Tensor:
    """The window order of a bucket's visual tokens."""
    return torch.from_numpy(window_order(bucket).units).to(device)


def ship(array: npt.NDArray[Any], device: torch.device) -> Tensor:
    """To the GPU, without waiting for it."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


@cache
def cosine(device: torch.device) -> Tensor:
    """[8, 8] the orthonormal DCT."""
    k = torch.arange(8.0)
    basis = torch.cos((2 * k[None] + 1) * k[:, None] * math.pi / 16) / 2
    basis[0] /= math.sqrt(2)
    return basis.to(device)


def jpeg(pictures: Tensor, quality: Tensor) -> Tensor:
    """[b, 3, h, w] in 0..1, as JPEG would leave them; quality [b] in 1..100."""
    _, _, height, width = pictures.shape
    x = F.pad(pictures.float() * 255, (0, -width % 16, 0, -height % 16), "replicate")
    red, green, blue = x.unbind(1)
    luma = 0.299 * red + 0.587 * green + 0.114 * blue
    chroma = torch.stack([(blue - luma) * 0.564, (red - luma) * 0.713], 1)
    scale = torch.where(quality < 50, 5000 / quality, 200 - 2 * quality)[:, None, None] / 100
    table = constants(x.device)[2]
    step = (table * scale).clamp(1, 255).round()
    luma = quantise(luma[:, None] - 128, step)[:, 0] + 128
    coarse = (table.clamp(max=60) * 1.6 * scale).clamp(1, 255).round()
    chroma = F.interpolate(quantise(F.avg_pool2d(chroma, 2), coarse), scale_factor=2)
    cb, cr = chroma.unbind(1)
    red, blue = luma + cr / 0.713, luma + cb / 0.564
    green = (luma - 0.299 * red - 0.114 * blue) / 0.587
    out = torch.stack([red, green, blue], 1)[..., :height, :width]
    return (out / 255).clamp(0, 1).to(pictures.dtype)


def quantise(planes: Tensor, step: Tensor) -> Tensor:
    """[b, c, h, w] planes through an 8 x 8 block transform rounded to `step` [b, 8, 8]."""
    batch, count, height, width = planes.shape
    basis = cosine(planes.device)
    blocks = planes.view(batch, count, height // 8, 8, width // 8, 8).transpose(3, 4)
    step = step[:, None, None, None]
    blocks = (basis @ blocks @ basis.T / step).round() * step
    blocks = basis.T @ blocks @ basis
    return blocks.transpose(3, 4).reshape(batch, count, height, width)


def photographs(photos: Tensor, count: int, bucket: tuple[int, int]) -> Tensor:
    """[count, 3, h, w] crops of photographs [p, 3, ., .] bytes, flipped and tinted."""
    device = photos.device
    chosen = torch.randint(len(photos), (count,), device=device)
    zoom = torch.rand(count, 2, device=device) * 0.65 + 0.3
    shift = (torch.rand(count, 2, device=device) * 2 - 1) * (1 - zoom)
    flip = torch.rand(count, 2, device=device)
    flip[:, 1] += 0.4
    flip = (flip - 0.5).sign()
    theta = torch.zeros(count, 2, 3, device=device)
    theta[:, 0, 0], theta[:, 1, 1] = zoom[:, 0] * flip[:, 0], zoom[:, 1] * flip[:, 1]
    theta[:, :, 2] = shift
    places = F.affine_grid(theta, [count, 3, *bucket], align_corners=False)
    out = F.grid_sample(photos[chosen].float() / 255, places, align_corners=False)
    gain = torch.rand(count, 3, 1, 1, device=device) * 0.5 + 0.75
    gray = (torch.rand(count, 1, 1, 1, device=device) < 0.12).float()
    out = out * (1 - gray) + out.mean(1, keepdim=True) * gray
    return (out * gain + torch.rand(count, 1, 1, 1, device=device) * 0.2 - 0.1).clamp(0, 1)


def textures(count: int, bucket: tuple[int, int], device: torch.device) -> Tensor:
    """[count, 3, h, w] clouds, grain, stripes and checks in several colors."""
    height, width = bucket
    field = torch.zeros(count, 3, height, width, device=device)
    for cells in (2, 4, 9, 25, 70, 200):
        grain = torch.randn(count, 3, cells, int(cells * 1.6), device=device)
        weight = torch.rand(count, 1, 1, 1, device=device).pow(3) * 1.5
        field += weight * F.interpolate(grain, (height, width), mode="bilinear")
    y = torch.linspace(0, 1, height, device=device)[:, None]
    x = torch.linspace(0, 1, width, device=device)[None]
    wave = torch.randn(count, 2, 3, 1, 1, device=device) * 2 ** (
        torch.rand(count, 1, 1, 1, 1, device=device) * 6
    )
    phase = torch.rand(count, 3, 1, 1, device=device) * 6.28
    stripes = torch.sin(wave[:, 0] * x * 3 + wave[:, 1] * y * 3 + phase)
    hard = torch.rand(count, 1, 1, 1, device=device) < 0.3
    stripes = torch.where(hard, stripes.sign(), stripes)
    share = (torch.rand(count, 1, 1, 1, device=device) * 1.6 - 0.6).clamp(0, 1)
    mixed = field * (1 - share) + stripes * share * 1.2
    mix = torch.randn(count, 3, 3, device=device) * 0.5 + torch.eye(3, device=device)
    colored = torch.einsum("nij,njhw->nihw", mix, mixed)
    base = torch.rand(count, 3, 1, 1, device=device)
    contrast = 0.15 + torch.rand(count, 1, 1, 1, device=device) * 0.4
    return (base + colored * contrast).clamp(0, 1)


def to_patches(pictures: Tensor, bucket: tuple[int, int]) -> Tensor:
    """[b, 3, h, w] in 0..1 -> [b, 4 n, 588] normalised patches in window order."""
    rows, columns = grid(bucket)
    device = pictures.device
    mean, std, _ = constants(device)
    x = ((pictures.float() - mean) / std).to(torch.bfloat16 if pictures.is_cuda else torch.float32)
    x = x.view(len(x), 3, rows, 2, PATCH, columns, 2, PATCH).permute(0, 2, 5, 3, 6, 1, 4, 7)
    x = x.reshape(len(x), rows * columns, 4 * 3 * PATCH * PATCH)
    return x[:, order(bucket, device)].view(len(x), rows * columns * 4, 3 * PATCH * PATCH)


@torch.no_grad()
def paint(pictures: Pictures, cells: Tensor, photos: Tensor) -> Tensor:
    """[b, 3, h, w] the pictures at their bucket's size, 0 to 1."""
    device = cells.device
    sprites, backdrops = ship(pictures.sprites, device), ship(pictures.backdrops, device)
    x = draw(sprites, backdrops, cells, pictures.canvas)
    lossy = pictures.jpeg.nonzero()[0]
    if len(lossy):
        index = ship(lossy, device)
        quality = ship(pictures.jpeg[lossy], device)
        x[index] = jpeg(x[index], quality)
    if pictures.canvas != pictures.bucket:
        shrinks = pictures.canvas[0] > pictures.bucket[0]
        x = F.interpolate(x.float(), pictures.bucket, mode="bicubic", antialias=shrinks).clamp(0, 1)
    for kind in (1, 2):
        index = ship((pictures.outside == kind).nonzero()[0], device)
        if len(index) and kind == 1 and len(photos):
            x[index] = photographs(photos, len(index), pictures.bucket).to(x.dtype)
        elif len(index):
            x[index] = textures(len(index), pictures.bucket, device).to(x.dtype)
    return x
