"""Supervisor: loads the engines in the background, knows their state, ends them."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from backend.engines.abandon import abandon_engines
from backend.engines.loader import Engines, Report
from backend.errors import BifocalError, EngineError
from backend.plan import Plan
from backend.types import EngineState, EngineStatus, Health, OverallState

log = logging.getLogger("bifocal")

HEALTH_INTERVAL_S = 2.0
ABANDON_INTERVAL_S = 0.5

Loader = Callable[[Plan, Report], Engines]


@dataclass(slots=True)
class _Record:
    """What is known of one engine; written by the loader's threads, read by everyone."""

    devices: tuple[int, ...]
    capacity: int
    state: EngineState = "loading"
    detail: str = "not started yet"
    running: int = 0


class Supervisor:
    """Owns the engines. All methods but `health` belong to one event loop."""

    def __init__(self, plan: Plan, loader: Loader) -> None:
        self._plan = plan
        self._loader = loader
        self._engines: Engines | None = None
        self._failure: BifocalError | None = None
        self._abandoned = False
        self._done = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        if plan.topology == "fused":
            self._records = {"fused": _Record(plan.vision_devices, plan.decode_batch)}
        else:
            self._records = {
                "vision": _Record(plan.vision_devices, plan.vision_batch),
                "language": _Record(plan.language_devices, plan.decode_batch),
            }

    def start(self) -> None:
        """Begin loading in the background; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def ready(self) -> Engines:
        """The engines, once they are there. Raises the error that keeps them from coming."""
        await self._done.wait()
        if self._failure:
            raise self._failure
        assert self._engines is not None
        return self._engines

    @property
    def is_loading(self) -> bool:
        """Whether `ready` would wait."""
        return not self._done.is_set()

    @contextmanager
    def running(self, role: str) -> Iterator[None]:
        """Counts one request as being in an engine (`fused` stands for both roles)."""
        record = self._records.get(role) or self._records["fused"]
        record.running += 1
        try:
            yield
        finally:
            record.running -= 1

    def health(self) -> Health:
        """The state now; cheap, from any thread."""
        engines = tuple(self._status(role, record) for role, record in self._records.items())
        states = {engine.state for engine in engines}
        overall: OverallState = "ready"
        if "failed" in states:
            overall = "failed"
        elif "loading" in states:
            overall = "loading"
        plan = self._plan
        return Health(overall, engines, plan.model, plan.target, plan.topology)

    async def shutdown(self) -> None:
        """End loading and the engine processes; waits for them."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        self._failure = self._failure or EngineError("The app is shutting down.")
        self._done.set()
        if self._engines:
            members = [self._engines.encoder, self._engines.decoder]
            engines = [engine for engine in members if engine is not None]
            await asyncio.gather(*(asyncio.to_thread(engine.shutdown) for engine in engines))
            self._engines = None
            gc.collect()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        started = time.perf_counter()
        pool = ThreadPoolExecutor(1, thread_name_prefix="loader")
        loading = loop.run_in_executor(pool, self._loader, self._plan, self._report)
        try:
            self._engines = await asyncio.shield(loading)
        except asyncio.CancelledError:
            self._abandoned = True
            while not loading.done():
                # Again and again: a process may just be about to be made.
                abandon_engines()
                await asyncio.wait([loading], timeout=ABANDON_INTERVAL_S)
            with suppress(BifocalError):
                self._engines = loading.result()
            raise
        except BifocalError as error:
            self._fail(error)
            return
        except Exception as error:
            # Whoever waits for the engines must not wait for ever.
            log.exception("the engines did not start")
            self._fail(EngineError(f"The engines did not start ({type(error).__name__})."))
            return
        finally:
            pool.shutdown(wait=False)
        log.info("engines ready after %.1f s", time.perf_counter() - started)
        self._done.set()
        await self._watch()

    async def _watch(self) -> None:
        """Notice an engine that has died."""
        while self._engines:
            await asyncio.sleep(HEALTH_INTERVAL_S)
            try:
                if self._engines.encoder:
                    await self._engines.encoder.check_health()
                await self._engines.decoder.check_health()
            except EngineError as error:
                self._fail(error)
                return
            except Exception as error:
                log.exception("an engine cannot be asked for its health")
                self._fail(EngineError(f"An engine does not answer ({type(error).__name__})."))
                return

    def _fail(self, error: BifocalError) -> None:
        log.error("%s", error.message)
        self._failure = error
        for record in self._records.values():
            record.state, record.detail = "failed", error.message
        self._done.set()

    def _report(self, role: str, state: EngineState, detail: str) -> None:
        """Called by the loader between its steps, which is where it can be stopped."""
        if self._abandoned:
            raise EngineError("The app is shutting down.")
        record = self._records[role]
        record.state, record.detail = state, detail
        log.info("%s engine: %s", role, detail or state)

    @staticmethod
    def _status(role: str, record: _Record) -> EngineStatus:
        busy = record.state == "ready" and record.running > 0
        state: EngineState = "busy" if busy else record.state
        return EngineStatus(
            role, state, record.detail, record.devices, record.running, record.capacity
        )
