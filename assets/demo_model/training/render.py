"""Drawing scenes on the GPU: one program a tile, four samples of the distance fields a pixel."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from .atlas import CELL, GAIN
from .sprites import BACKDROP, SPRITE, SPRITES

TILE_ROWS, TILE_COLUMNS = 16, 32


@triton.jit
def texel(cells, base, row, column, size: tl.constexpr):
    row = tl.minimum(tl.maximum(row, 0), size - 1)
    column = tl.minimum(tl.maximum(column, 0), size - 1)
    return tl.load(cells + base + row * size + column).to(tl.float32)


@triton.jit
def coverage(
    cells, base, x, y,
    ux, uy, u0, vx, vy, v0,
    soft, size: tl.constexpr, gain: tl.constexpr,
):  # fmt: skip
    """How much of a point's surroundings a sprite covers, 0 to 1."""
    u = ux * x + uy * y + u0 - 0.5
    v = vx * x + vy * y + v0 - 0.5
    inside = (u > -1) & (u < size) & (v > -1) & (v < size)
    column, row = tl.floor(u), tl.floor(v)
    fu, fv = u - column, v - row
    column, row = column.to(tl.int32), row.to(tl.int32)
    a = texel(cells, base, row, column, size)
    b = texel(cells, base, row, column + 1, size)
    c = texel(cells, base, row + 1, column, size)
    d = texel(cells, base, row + 1, column + 1, size)
    top, low = a + (b - a) * fu, c + (d - c) * fu
    distance = (top + (low - top) * fv - 128.0) / gain
    du = ((b - a) * (1 - fv) + (d - c) * fv) / gain
    dv = (low - top) / gain
    gx, gy = du * ux + dv * vx, du * uy + dv * vy
    slope = tl.sqrt(gx * gx + gy * gy) + 1e-3 * (tl.abs(ux) + tl.abs(vy))
    covered = tl.minimum(tl.maximum(0.5 + distance / (slope * soft), 0.0), 1.0)
    return tl.where(inside, covered, 0.0)


@triton.jit
def draw_kernel(
    out, sprites, backdrops, cells, height, width,
    COUNT: tl.constexpr, STRIDE: tl.constexpr, BACK: tl.constexpr, SIZE: tl.constexpr,
    GAIN_: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
):  # fmt: skip
    image = tl.program_id(2)
    top, left = tl.program_id(0) * ROWS, tl.program_id(1) * COLUMNS
    rows = top + tl.arange(0, ROWS)[:, None]
    columns = left + tl.arange(0, COLUMNS)[None, :]
    x, y = columns.to(tl.float32) + 0.5, rows.to(tl.float32) + 0.5
    x, y = x + 0.0 * y, y + 0.0 * x
    back = backdrops + image * BACK
    box_x0, box_y0 = tl.load(back), tl.load(back + 1)
    box_x1, box_y1 = tl.load(back + 2), tl.load(back + 3)
    slope = tl.load(back + 13) * x + tl.load(back + 14) * y + tl.load(back + 15)
    slope = tl.minimum(tl.maximum(slope, 0.0), 1.0)
    amplitude, grain = tl.load(back + 16), tl.load(back + 17)
    seed = tl.load(back + 18).to(tl.int32)
    soft, colored = tl.load(back + 19), tl.load(back + 20)
    red = tl.load(back + 7) + tl.load(back + 10) * slope
    green = tl.load(back + 8) + tl.load(back + 11) * slope
    blue = tl.load(back + 9) + tl.load(back + 12) * slope
    if amplitude > 0:
        spot = (tl.floor(y / grain) * 4096 + tl.floor(x / grain)).to(tl.int32)
        gray = tl.randn(seed, spot)
        red += amplitude * gray
        green += amplitude * tl.where(colored > 0, tl.randn(seed + 1, spot), gray)
        blue += amplitude * tl.where(colored > 0, tl.randn(seed + 2, spot), gray)
    for s in range(COUNT):
        one = sprites + (image * COUNT + s) * STRIDE
        hit = (tl.load(one + 14) > 0) & (tl.load(one + 10) < left + COLUMNS + 2)
        hit = hit & (tl.load(one + 12) > left - 2) & (tl.load(one + 11) < top + ROWS + 2)
        hit = hit & (tl.load(one + 13) > top - 2)
        if hit:
            ux, uy, u0 = tl.load(one), tl.load(one + 1), tl.load(one + 2)
            vx, vy, v0 = tl.load(one + 3), tl.load(one + 4), tl.load(one + 5)
            base = tl.load(one + 6).to(tl.int32) * SIZE * SIZE
            cover = 0.0 * x
            for k in range(4):
                dx, dy = (k % 2) * 0.5 - 0.25, (k // 2) * 0.5 - 0.25
                cover += 0.25 * coverage(
                    cells, base, x + dx, y + dy, ux, uy, u0, vx, vy, v0, soft, SIZE, GAIN_
                )
            red += (tl.load(one + 7) - red) * cover
            green += (tl.load(one + 8) - green) * cover
            blue += (tl.load(one + 9) - blue) * cover
    content = (x >= box_x0) & (x <= box_x1) & (y >= box_y0) & (y <= box_y1)
    red = tl.where(content, tl.minimum(tl.maximum(red, 0.0), 1.0), tl.load(back + 4))
    green = tl.where(content, tl.minimum(tl.maximum(green, 0.0), 1.0), tl.load(back + 5))
    blue = tl.where(content, tl.minimum(tl.maximum(blue, 0.0), 1.0), tl.load(back + 6))
    keep = (rows < height) & (columns < width)
    place = out + image.to(tl.int64) * 3 * height * width + rows * width + columns
    tl.store(place, red, mask=keep)
    tl.store(place + height * width, green, mask=keep)
    tl.store(place + 2 * height * width, blue, mask=keep)


def draw(sprites: Tensor, backdrops: Tensor, cells: Tensor, canvas: tuple[int, int]) -> Tensor:
    """[b, 3, height, width] pictures, 0 to 1, half precision.

    sprites [b, SPRITES, SPRITE] and backdrops [b, BACKDROP] are float32, cells [c, 128, 128] bytes.
    """
    height, width = canvas
    kind = torch.float16 if sprites.is_cuda else torch.float32
    out = torch.empty(len(sprites), 3, height, width, dtype=kind, device=sprites.device)
    tiles = (triton.cdiv(height, TILE_ROWS), triton.cdiv(width, TILE_COLUMNS), len(sprites))
    draw_kernel[tiles](
        out, sprites, backdrops, cells, height, width,
        COUNT=SPRITES, STRIDE=SPRITE, BACK=BACKDROP, SIZE=CELL, GAIN_=GAIN,
        ROWS=TILE_ROWS, COLUMNS=TILE_COLUMNS,
    )  # fmt: skip
    return out
