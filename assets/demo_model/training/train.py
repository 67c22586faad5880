"""Trains the demo model on one GPU, or on several with torchrun.

    python -m assets.demo_model.training.train --atlas ATLAS.npz --photos DIR \
        --minutes 20 --out RUN [--init-from assets/demo_model]

Restartable: RUN/state.pt holds everything and is taken up again. The learning rate falls to zero
as the planned minutes run out, whatever the machine's speed.
"""

from __future__ import annotations

import argparse
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from PIL import Image
from torch import Tensor

from . import atlas as atlases
from .batches import Batch
from .checkpoint import load_checkpoint, to_checkpoint
from .effects import paint, ship, to_patches
from .export import read_weights, write_weights
from .feed import Source, feed
from .layout import BUCKETS
from .model import DemoModel
from .optimizer import Muon, matrices
from .segments import KINDS

PHOTO = (720, 960)


@dataclass
class Options:
    """The command line."""

    atlas: Path
    photos: Path | None
    tokenizer: Path
    out: Path
    minutes: float
    init_from: Path | None
    seed: int
    workers: int
    optimizer: str
    rate: float
    muon_rate: float
    compile: bool
    most_steps: int
    early: int


def options() -> Options:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--atlas", type=Path, required=True, help="made by atlas.py")
    parser.add_argument("--photos", type=Path, help="folder of JPEG photographs to refuse")
    parser.add_argument("--tokenizer", type=Path, default=Path("assets/demo_model/tokenizer.json"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--init-from", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) - 2))
    parser.add_argument("--optimizer", choices=("muon", "adamw"), default="muon")
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--muon-rate", type=float, default=0.02)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    parser.add_argument("--most-steps", type=int, default=10**9)
    parser.add_argument("--early", type=int, default=1200, help="steps of mostly small pictures")
    return Options(**vars(parser.parse_args()))


def load_photos(folder: Path | None, device: torch.device) -> Tensor:
    """[p, 3, 720, 960] bytes."""
    if folder is None:
        return torch.zeros(0, 3, 8, 8, dtype=torch.uint8, device=device)
    pictures = []
    for path in sorted(folder.glob("*.jpg")):
        with Image.open(path) as image:
            pictures.append(np.asarray(image.convert("RGB").resize(PHOTO[::-1])))
    return torch.from_numpy(np.stack(pictures)).permute(0, 3, 1, 2).contiguous().to(device)


class Scores:
    """Teacher-forced exact answers by kind and bucket, counted on the GPU."""

    def __init__(self, device: torch.device) -> None:
        self.sums = torch.zeros(len(BUCKETS), len(KINDS), 2, device=device)

    def add(self, bucket: int, kinds: Tensor, turn: Tensor, right: Tensor) -> None:
        exact = torch.ones(len(kinds), device=kinds.device)
        exact.scatter_reduce_(0, turn, right.float(), "amin")
        self.sums[bucket].index_add_(0, kinds, torch.stack([exact, torch.ones_like(exact)], 1))

    def report(self) -> str:
        """Percentages in the order of the buckets, and start anew."""
        sums = self.sums.cpu().clone()
        self.sums.zero_()
        parts = []
        for i, kind in enumerate(KINDS):
            if sums[:, i, 1].sum():
                shares = (100 * sums[:, i, 0] / sums[:, i, 1].clamp(min=1)).tolist()
                parts.append(f"{kind} " + "/".join(f"{share:.1f}" for share in shares))
        return "; ".join(parts)


class Trainer:
    """The model, its optimizers, and one step of training."""

    def __init__(self, chosen: Options, device: torch.device, world: int) -> None:
        self.options, self.device, self.world = chosen, device, world
        torch.manual_seed(chosen.seed)
        self.model = DemoModel().to(device)
        if chosen.init_from is not None:
            load_checkpoint(self.model, read_weights(chosen.init_from))
        if chosen.compile:
            self.model.compile()
        everything = list(self.model.parameters())
        self.gradient = torch.zeros(sum(p.numel() for p in everything), device=device)
        at = 0
        for parameter in everything:
            parameter.grad = self.gradient[at : at + parameter.numel()].view_as(parameter)
            at += parameter.numel()
        inner = matrices(self.model) if chosen.optimizer == "muon" else []
        taken = {id(parameter) for parameter, _ in inner}
        rest = [parameter for parameter in everything if id(parameter) not in taken]
        groups = [
            {"params": [p for p in rest if p.ndim > 1], "weight_decay": 0.02},
            {"params": [p for p in rest if p.ndim == 1], "weight_decay": 0.0},
        ]
        fused = device.type == "cuda"
        self.adam = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=fused)
        self.muon = Muon(inner)
        self.cells = torch.from_numpy(atlases.load(chosen.atlas).cells).to(device)
        self.photos = load_photos(chosen.photos, device)
        self.scores = Scores(device)
        torch.manual_seed(chosen.seed + 1000 + (dist.get_rank() if world > 1 else 0))

    def loss(self, batch: Batch) -> Tensor:
        """Mean cross entropy of the answers' tokens."""

        def moved(array: Any) -> Tensor:
            return ship(array, self.device).long()

        visual = []
        for pictures in batch.pictures:
            painted = paint(pictures, self.cells, self.photos)
            visual.append(self.model.encode(to_patches(painted, pictures.bucket), pictures.bucket))
        hidden = self.model.read(moved(batch.tokens), visual, batch.layout)
        targets = moved(batch.targets)
        logits = self.model.logits(hidden.flatten(0, 1)[moved(batch.where)])
        with torch.no_grad():
            bucket = BUCKETS.index(batch.pictures[-1].bucket) if batch.pictures else 0
            right = logits.argmax(-1) == targets
            self.scores.add(bucket, moved(batch.kinds), moved(batch.turn), right)
        return F.cross_entropy(logits, targets)

    def step(self, batch: Batch, progress: float, number: int) -> Tensor:
        """One update at this share of the planned time; returns the loss."""
        self.gradient.zero_()
        loss = self.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        if self.world > 1:
            dist.all_reduce(self.gradient, op=dist.ReduceOp.AVG)
        length = self.gradient.norm()
        self.gradient.mul_((1.0 / (length + 1e-6)).clamp(max=1.0))
        share = min(1.0, (number + 1) / 500) * decay(progress)
        for group in self.adam.param_groups:
            group["lr"] = self.options.rate * share
        self.adam.step()
        if self.muon.parameters:
            self.muon.step(self.options.muon_rate * share, min(0.95, 0.85 + number / 3000))
        return loss.detach()

    def state(self) -> dict[str, Any]:
        return {
            "model": self.model.state_dict(),
            "adam": self.adam.state_dict(),
            "momenta": self.muon.momenta,
        }

    def restore(self, state: dict[str, Any]) -> None:
        self.model.load_state_dict(state["model"])
        self.adam.load_state_dict(state["adam"])
        for mine, saved in zip(self.muon.momenta, state["momenta"], strict=True):
            mine.copy_(saved)


def decay(progress: float) -> float:
    """Flat at first, then a cosine to zero."""
    share = min(1.0, max(0.0, (progress - 0.25) / 0.75))
    return 0.5 * (1 + math.cos(math.pi * share)) * 0.99 + 0.01


def main() -> None:
    chosen = options()
    world, rank = int(os.environ.get("WORLD_SIZE", 1)), int(os.environ.get("RANK", 0))
    device = torch.device("cuda", rank) if torch.cuda.is_available() else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
        torch.backends.cuda.matmul.allow_tf32 = True
    control = None
    if world > 1:
        dist.init_process_group("nccl")
        control = dist.new_group(backend="gloo")
    chosen.out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(chosen, device, world)
    step, spent = 0, 0.0
    saved = chosen.out / "state.pt"
    if saved.exists():
        state = torch.load(saved, map_location=device)
        trainer.restore(state)
        step, spent = state["step"], state["spent"]
    source = Source(chosen.seed, rank, chosen.early, chosen.atlas, chosen.tokenizer)
    batches = feed(source, step, chosen.workers)
    begun = last_save = last_log = time.monotonic() - spent
    last_save = last_log = time.monotonic()
    waited, since, progress = 0.0, step, 0.0
    while progress < 1 and step < chosen.most_steps:
        if step % 10 == 0:
            now = torch.tensor([(time.monotonic() - begun) / (60 * chosen.minutes)])
            if control is not None:
                dist.broadcast(now, 0, group=control)
            progress = float(now)
        asked = time.monotonic()
        batch = next(batches)
        waited += time.monotonic() - asked
        loss = trainer.step(batch, progress, step)
        step += 1
        if rank == 0 and (time.monotonic() - last_log > 30 or step == chosen.most_steps):
            value, passed = float(loss), time.monotonic() - last_log
            rate = (step - since) / passed
            print(
                f"step {step} {progress:.3f} loss {value:.4f} {rate:.1f}/s waited {waited:.1f} s"
                f" memory {torch.cuda.max_memory_allocated() / 2**30:.0f} GiB\n"
                f"  {trainer.scores.report()}",
                flush=True,
            )
            last_log, since, waited = time.monotonic(), step, 0.0
        if rank == 0 and time.monotonic() - last_save > 60:
            save(chosen.out, trainer, step, time.monotonic() - begun)
            last_save = time.monotonic()
    if rank == 0:
        save(chosen.out, trainer, step, time.monotonic() - begun)
        (chosen.out / "done").touch()
    os._exit(0)


def save(folder: Path, trainer: Trainer, step: int, spent: float) -> None:
    """The state to go on from, and the weights for export."""
    torch.save({**trainer.state(), "step": step, "spent": spent}, folder / "state.tmp")
    (folder / "state.tmp").rename(folder / "state.pt")
    write_weights(folder, to_checkpoint(trainer.model))


if __name__ == "__main__":
    main()
