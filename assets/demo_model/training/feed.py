"""Training batches from worker processes, in the order of the steps, the same on every run."""

from __future__ import annotations

import multiprocessing as mp
import os
import queue
import random
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from . import atlas as atlases
from .batches import Batch, make_batch
from .layout import BUCKETS


def plan(seed: int, step: int, early: int) -> tuple[str, tuple[int, int]]:
    """The kind and bucket of the batch of a step, the same on all GPUs.

    During the first `early` steps small pictures and single ones prevail.
    """
    rng = random.Random(hash((seed, step, 7)))
    if step < early:
        kind = rng.choices(("single", "several", "text"), (0.93, 0.05, 0.02))[0]
        return kind, rng.choices(BUCKETS, (0.6, 0.25, 0.15))[0]
    kinds = ("single", "words", "several", "text", "text_first", "later")
    kind = rng.choices(kinds, (0.48, 0.3, 0.13, 0.02, 0.03, 0.04))[0]
    shares = (0.45, 0.3, 0.25) if kind == "words" else (0.3, 0.32, 0.38)
    return kind, rng.choices(BUCKETS, shares)[0]


@dataclass(frozen=True)
class Source:
    """What batches are made from."""

    seed: int
    rank: int
    early: int
    atlas: Path
    tokenizer: Path


def work(out: Any, source: Source, first: int, stride: int) -> None:
    """One worker: every `stride`-th step's batch, for ever."""
    os.nice(2)
    fields = atlases.load(source.atlas)
    tokenizer = Tokenizer.from_file(str(source.tokenizer))
    step = first
    while True:
        kind, bucket = plan(source.seed, step, source.early)
        seed = (source.seed, step, source.rank)
        out.put(make_batch(seed, kind, bucket, fields, tokenizer))
        step += stride


def feed(source: Source, start: int, workers: int) -> Iterator[Batch]:
    """Batches from step `start` on. The workers end with the process."""
    context = mp.get_context("spawn")
    queues = [context.Queue(3) for _ in range(workers)]
    for i, out in enumerate(queues):
        args = (out, source, start + i, workers)
        context.Process(target=work, args=args, daemon=True).start()
    ready: queue.Queue[Batch] = queue.Queue(6)

    def fetch() -> None:
        while True:
            for out in queues:
                ready.put(out.get())

    threading.Thread(target=fetch, daemon=True).start()
    while True:
        yield ready.get()
