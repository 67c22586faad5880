"""Supervisor: the engines of a plan, their common state, and their end."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import partial
from typing import cast

from prometheus_client import Metric

from backend import heap
from backend.engines.abandon import abandon_engines
from backend.engines.counters import with_label
from backend.engines.loader import Report, engine_roles
from backend.engines.protocols import Engine, LanguageDecoder, VisionEncoder
from backend.errors import BifocalError
from backend.keeper import RESTARTS, Keeper
from backend.plan import Plan
from backend.types import Health, OverallState

log = logging.getLogger("bifocal")

ABANDON_INTERVAL_S = 0.5

Loader = Callable[[Plan, str, Report], Engine]
"""Starts the engine of one role; blocking."""


@dataclass(frozen=True, slots=True)
class Engines:
    """`encoder` is None where one fused engine does both."""

    encoder: VisionEncoder | None
    decoder: LanguageDecoder


class Supervisor:
    """Owns the engines. All methods but `health` belong to one event loop."""

    def __init__(self, plan: Plan, loader: Loader) -> None:
        self._plan = plan
        notes = " ".join(plan.notes)
        self._telling: asyncio.Task[None] | None = None
        self._keepers: dict[str, Keeper] = {}
        for role in engine_roles(plan):
            vision, remote = role == "vision", plan.topology == "remote"
            devices = plan.language_devices if role == "language" else plan.vision_devices
            self._keepers[role] = Keeper(
                role,
                () if remote else devices,
                plan.capacity(role),
                partial(loader, plan, role),
                "" if vision else notes,
                # Whoever runs a server starts it again when they see fit.
                None if remote else RESTARTS,
            )

    def start(self) -> None:
        """Begin loading in the background; needs a running event loop."""
        for keeper in self._keepers.values():
            keeper.start()
        self._telling = asyncio.get_running_loop().create_task(self._tell())

    async def ready(self) -> Engines:
        """All engines, once they are there. Raises the error that keeps them from coming."""
        await asyncio.gather(*(keeper.ready() for keeper in self._keepers.values()))
        return Engines(await self.encoder(), await self.decoder())

    async def encoder(self) -> VisionEncoder | None:
        """The vision encoder, once it is there; None where one fused engine does both."""
        if "vision" not in self._keepers:
            return None
        return cast(VisionEncoder, await self._keepers["vision"].ready())

    async def decoder(self) -> LanguageDecoder:
        """The language decoder or the fused engine, once it is there."""
        return cast(LanguageDecoder, await self._keeper("language").ready())

    def is_waiting(self, role: str) -> bool:
        """Whether the engine of this role is still to come."""
        return self._keeper(role).is_waiting

    def running(self, role: str) -> AbstractContextManager[None]:
        """Counts one request as being in an engine."""
        return self._keeper(role).running()

    def metrics(self) -> Iterable[Metric]:
        """The engines' own counters, each with the engine's role."""
        for role, keeper in self._keepers.items():
            for family in keeper.metrics():
                yield with_label(family, "role", role)

    def unfinished(self) -> dict[str, int]:
        """Requests in each engine itself, queued or running."""
        return {role: keeper.unfinished for role, keeper in self._keepers.items()}

    def restarts(self) -> dict[str, int]:
        """How often each engine was started again."""
        return {role: keeper.restarts for role, keeper in self._keepers.items()}

    def health(self) -> Health:
        """The state now; cheap, from any thread."""
        engines = tuple(keeper.status() for keeper in self._keepers.values())
        states = {engine.role: engine.state for engine in engines}
        plan = self._plan
        return Health(_overall(states), engines, plan.model, plan.target, plan.topology)

    async def shutdown(self) -> None:
        """End loading and the engine processes; waits for them."""
        if self._telling:
            self._telling.cancel()
        keepers = self._keepers.values()
        # Those that load come last: they are stopped by ending every process there is.
        await asyncio.gather(*(keeper.shutdown() for keeper in keepers if not keeper.is_loading))
        ending = asyncio.gather(*(keeper.shutdown() for keeper in keepers))
        while any(keeper.is_loading for keeper in keepers):
            # Again and again: a process may just be about to be made.
            abandon_engines()
            await asyncio.wait([ending], timeout=ABANDON_INTERVAL_S)
        await ending
        heap.collect()

    async def _tell(self) -> None:
        """Say once that everything is there."""
        started = time.monotonic()
        with suppress(BifocalError):
            await self.ready()
            heap.settle()
            log.info("engines ready after %.1f s", time.monotonic() - started)

    def _keeper(self, role: str) -> Keeper:
        """The keeper of a role; `fused` stands for both."""
        return self._keepers.get(role) or self._keepers["fused"]


def _overall(states: Mapping[str, str]) -> OverallState:
    """One word for all engines.

    Without the vision encoder, text and pictures seen before can still be answered; without the
    decoder nothing can, but whoever asks while it is started again is answered then.
    """
    up = [state in ("ready", "busy") for state in states.values()]
    if all(up):
        return "ready"
    if states.get("language", states.get("fused")) == "failed":
        return "failed"
    if "loading" in states.values() or not any(up):
        return "failed" if "failed" in states.values() else "loading"
    return "degraded"
