"""Stand: the engines of all sides of a bench, started one after the other and ended together."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from multiprocessing.resource_tracker import ensure_running
from pathlib import Path
from typing import Any, Final

from backend.bench.engine_side import EngineSide
from backend.bench.memory import child_pids
from backend.bench.options import Options
from backend.bench.question import Side
from backend.bench.split import SplitSide
from backend.catalog.lookup import model_path
from backend.engines.loader import import_engines
from backend.engines.weights import checkpoint_parameters
from backend.heavy_imports import heavy_imports
from backend.service import Bifocal

OpenPage = Callable[[Bifocal, int, AsyncExitStack], Awaitable[Side]]
"""Serves a backend to so many askers; what is to be closed goes onto the stack."""

HALVES: Final = ("vision", "language")


class Stand:
    """All sides, each with what its start took and the processes it has."""

    def __init__(
        self, backend: Bifocal, options: Options, tell: Callable[[str], None], page: OpenPage | None
    ) -> None:
        self.backend, self.options = backend, options
        self.sides: dict[str, Side] = {}
        self.ready_s: dict[str, float] = {}
        """Seconds to ready: of `vision` and `language` each alone, of `both`, and of `fused`."""
        self.device_bytes: dict[str, int] = {}
        """Memory taken on the GPUs by each of these starts."""
        self._pids: dict[str, list[int]] = {}
        self._engines: dict[str, Any] = {}
        self._tell, self._page = tell, page

    async def open(self, stack: AsyncExitStack) -> None:
        """Start everything; `stack` ends it. Raises EngineError or ModelError."""
        self._tell("importing vLLM")
        await asyncio.to_thread(_imports)
        stack.push_async_callback(self._end)
        # The first engine would bring this process with it, and its memory would be the engine's.
        ensure_running()
        sides = self.options.sides
        # First one that is compared with no other start: it finds no file in the system's memory.
        if "fused" in sides or "replicas" in sides:
            await self._start("fused", "fused")
        if "bare" in sides:
            # Each half alone gives its time to ready; nothing else is being started then.
            for role in HALVES:
                await self._start(role, role)
        await self._timed("both", self._start_backend)
        if "replicas" in sides:
            await self._start("language-fused", "fused")
        self.sides["split"] = SplitSide(self.backend)
        self._make_sides()
        if self._page and "page" in sides:
            self._tell("serving the page")
            self.sides["page"] = await self._page(self.backend, self.options.streams, stack)
        if "split" not in sides:
            del self.sides["split"]

    def processes(self, side: str) -> list[int]:
        """Of `split` or `fused`: this one, which serves all sides, and its engines'."""
        return [os.getpid(), *self._pids["both" if side == "split" else side]]

    async def parameters(self) -> dict[str, int]:
        """Parameters in each engine."""
        engines = await self.backend.ready()
        assert engines.encoder
        held = {
            "vision": sum((await engines.encoder.parameters()).values()),
            "language": sum((await engines.decoder.parameters()).values()),
        }
        if "fused" in self._engines:
            held["fused"] = await self._fused_parameters()
        return held

    async def _fused_parameters(self) -> int:
        """What a fused engine has loaded; vLLM's CPU kernels take weights out of the model."""
        plan = self.backend.plan
        if plan.target == "cpu":
            return checkpoint_parameters(Path(model_path(plan.spec)))
        (counts,) = await self._engines["fused"].collective_rpc("census")
        return int(sum(counts.values()))

    def _make_sides(self) -> None:
        from backend.engines.unaided import BareEngines, FusedEngine

        plan, sides = self.backend.plan, self.options.sides
        if "bare" in sides:
            bare = BareEngines(plan, *(self._engines[role] for role in HALVES))
            self.sides["bare"] = EngineSide(bare)
        if "fused" in sides:
            self.sides["fused"] = EngineSide(FusedEngine(plan, self._engines["fused"]))
        if "replicas" in sides:
            both = (self._engines[name] for name in ("fused", "language-fused"))
            self.sides["replicas"] = EngineSide(*(FusedEngine(plan, engine) for engine in both))

    async def _start(self, name: str, role: str) -> None:
        await self._timed(name, lambda: self._start_unaided(name, role))

    async def _start_unaided(self, name: str, role: str) -> None:
        from backend.engines.unaided import start_unaided, unaided_config

        plan = self.backend.plan
        config = await asyncio.to_thread(unaided_config, plan, role)
        devices = plan.language_devices if name.startswith("language") else plan.vision_devices
        self._engines[name] = await asyncio.to_thread(start_unaided, devices, plan, config)

    async def _start_backend(self) -> None:
        self.backend.start()
        await self.backend.ready()

    async def _timed(self, name: str, start: Callable[[], Awaitable[None]]) -> None:
        from backend.engines.gpu_memory import used_bytes

        self._tell(f"starting {name}")
        before, used = child_pids(), used_bytes(self.backend.plan.target)
        started = time.perf_counter()
        await start()
        self.ready_s[name] = time.perf_counter() - started
        self._pids[name] = sorted(child_pids() - before)
        self.device_bytes[name] = used_bytes(self.backend.plan.target) - used

    async def _end(self) -> None:
        from backend.engines.unaided import end_unaided

        self.sides.clear()
        engines, self._engines = self._engines, {}
        for engine in engines.values():
            await asyncio.to_thread(end_unaided, engine)
        await self.backend.shutdown()


def _imports() -> None:
    with heavy_imports():
        import_engines()
        import backend.engines.unaided  # noqa: F401
