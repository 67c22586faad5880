"""Muon for the matrices inside blocks, AdamW for all else (and, if asked, for everything)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable

import torch
from torch import Tensor, nn

from .model import DemoModel


def orthogonal(stack: Tensor) -> Tensor:
    """[m, r, c] each matrix's nearest semi-orthogonal one, by five Newton-Schulz steps."""
    x = stack.bfloat16()
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for a, b, c in (
        (4.0848, -6.8946, 2.9270),
        (3.9505, -6.3029, 2.6377),
        (3.7418, -5.5913, 2.3037),
        (2.8769, -3.1427, 1.2046),
        (2.8366, -3.0525, 1.2012),
    ):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if tall else x).float()


class Muon:
    """Momentum, made orthogonal. Fused projections are updated part by part."""

    def __init__(self, matrices: Iterable[tuple[Tensor, int]], decay: float = 0.05) -> None:
        """`matrices` are parameters and the number of parts their rows are split in."""
        self.parameters = [parameter for parameter, _ in matrices]
        self.parts = [parts for _, parts in matrices]
        self.momenta = [torch.zeros_like(parameter) for parameter in self.parameters]
        self.decay = decay
        self.groups: dict[tuple[int, int], list[tuple[int, slice]]] = defaultdict(list)
        for i, (parameter, parts) in enumerate(zip(self.parameters, self.parts, strict=True)):
            rows = parameter.shape[0] // parts
            for part in range(parts):
                where = slice(part * rows, (part + 1) * rows)
                self.groups[rows, parameter.shape[1]].append((i, where))

    @torch.no_grad()
    def step(self, rate: float, momentum: float) -> None:
        gradients = [parameter.grad for parameter in self.parameters]
        torch._foreach_lerp_(self.momenta, gradients, 1 - momentum)
        nesterov = torch._foreach_lerp(gradients, self.momenta, momentum)
        torch._foreach_mul_(self.parameters, 1 - rate * self.decay)
        for (rows, columns), members in self.groups.items():
            updates = orthogonal(torch.stack([nesterov[i][where] for i, where in members]))
            size = -rate * math.sqrt(max(1.0, rows / columns))
            targets = [self.parameters[i][where] for i, where in members]
            torch._foreach_add_(targets, list(updates.unbind()), alpha=size)


def matrices(model: DemoModel) -> list[tuple[nn.Parameter, int]]:
    """The parameters that Muon updates, and in how many parts."""
    found: list[tuple[nn.Parameter, int]] = [(model.merge_in, 1), (model.merge_out, 1)]
    for block in (*model.vision, *model.text):
        found += [(block.qkv, 3), (block.out, 1), (block.gate_up, 2), (block.down, 1)]
    return found
