"""The whole of a bench: engines, rounds, report."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from backend import heap
from backend.bench.machine import machine
from backend.bench.memory import peak_bytes, peaks
from backend.bench.options import Options
from backend.bench.pictures import Pictures
from backend.bench.report import Report
from backend.bench.rounds import Rounds
from backend.bench.stand import OpenPage, Stand
from backend.service import Bifocal


async def run_bench(
    backend: Bifocal, options: Options, tell: Callable[[str], None], page: OpenPage | None = None
) -> Report:
    """Start all sides, measure, end them. The backend must not have been started.

    `tell` is called with what is being done; `page` serves the backend where `page` is a side.
    Raises BifocalError.
    """
    started = time.perf_counter()
    stand = Stand(backend, options, tell, page)
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bifocal-bench-"))
        pictures = Pictures(Path(folder), options.height, options.width, backend.settings.seed)
        await stand.open(stack)
        # As the app does it when its page and engines are there.
        heap.settle()
        rounds = Rounds(stand.sides, pictures, options, tell)
        await rounds.run()
        parameters = await stand.parameters()
        pids: dict[str, list[int]] = {
            side: stand.processes(side) for side in ("split", "fused") if side in stand.sides
        }
        together = {side: peak_bytes(some) for side, some in pids.items()}
        each = {side: peaks(some) for side, some in pids.items()}
    return Report(
        measured=rounds.measured,
        ready_s=stand.ready_s,
        parameters=parameters,
        peak_bytes=together,
        peaks=each,
        device_bytes={name: size for name, size in stand.device_bytes.items() if size},
        settings=_settings(backend, options, rounds.answer),
        machine=machine(),
        seconds=time.perf_counter() - started,
    )


def _settings(backend: Bifocal, options: Options, answer: str) -> Mapping[str, Any]:
    plan = backend.plan
    return {
        "model": plan.model,
        "target": plan.target,
        "dtype": plan.dtype or "the model's own",
        "picture": f"{options.height}x{options.width}",
        "streams": options.streams,
        "tokens": options.tokens,
        "repeats": options.repeats,
        "rounds": options.rounds,
        "answer": answer,
    }
