"""Keeper: one engine's life. It is loaded, watched, and started again when it dies or hangs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Final

from prometheus_client import Metric

from backend import heap
from backend.engines.loader import Report
from backend.engines.protocols import Engine
from backend.errors import BifocalError, EngineError
from backend.types import EngineState, EngineStatus

log = logging.getLogger("bifocal")

HEALTH_INTERVAL_S = 1.0
"""Seconds between two looks at an engine; one that fails a request is looked at at once."""
RESTARTS: Final = 5
"""Starts again in a row, each after one that failed or ended within `STEADY_S`, before an engine of
this machine is given up."""
STEADY_S: Final = 300.0
PAUSES_S = (0.0, 1.0, 5.0, 15.0, 30.0)
"""Seconds before each start in a row; the last one before all that follow."""
TELL_WITHIN_S = 5.0
"""Seconds that requests of a dead engine have to be told so, before it is cleared away."""

ENDED = "The app is shutting down."


def pause_s(in_a_row: int) -> float:
    """Seconds before the next start, after so many in a row that did not last."""
    return PAUSES_S[min(in_a_row, len(PAUSES_S) - 1)]


class Keeper:
    """Keeps one engine. All methods but `status` belong to one event loop."""

    def __init__(
        self,
        role: str,
        devices: tuple[int, ...],
        capacity: int,
        load: Callable[[Report], Engine],
        detail: str = "",
        most_restarts: int | None = RESTARTS,
    ) -> None:
        """`load` blocks and is called in a thread; `detail` is shown with a ready engine.

        After `most_restarts` starts again in a row the engine is given up; None: it never is, once
        it has been there.
        """
        self.role, self.restarts, self.is_loading = role, 0, False
        self._devices, self._capacity, self._load, self._detail = devices, capacity, load, detail
        self._most_restarts = most_restarts
        self._state: EngineState = "loading"
        self._doing = "not started yet"
        self._running = 0
        self._engine: Engine | None = None
        self._failure: BifocalError | None = None
        self._settled, self._look, self._empty = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._empty.set()
        self._trusted = asyncio.Event()
        self._trusted.set()
        self._abandoned = False
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin loading in the background; needs a running event loop."""
        self._task = asyncio.get_running_loop().create_task(self._live())

    async def ready(self) -> Engine:
        """The engine, once it is there. Raises the error that keeps it from coming.

        One that has just failed a request is looked at first: whoever asks in that moment waits for
        the next engine, where it is dead, and is not told of it as those are who were in it.
        """
        while True:
            await self._trusted.wait()
            if self._engine is not None:
                return self._engine
            await self._settled.wait()
            if self._failure:
                raise self._failure

    @property
    def is_waiting(self) -> bool:
        """Whether `ready` would wait."""
        return not self._settled.is_set()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Counts one request as being in the engine, and has the engine looked at if it fails."""
        self._running += 1
        self._empty.clear()
        try:
            yield
        except EngineError:
            if self._engine is not None:
                self._trusted.clear()
            self._look.set()
            raise
        finally:
            self._running -= 1
            if not self._running:
                self._empty.set()

    def status(self) -> EngineStatus:
        """The state now; cheap, from any thread."""
        state = "busy" if self._state == "ready" and self._running > 0 else self._state
        engine = self._engine
        detail = (engine.detail if engine else "") or self._doing
        return EngineStatus(self.role, state, detail, self._devices, self._running, self._capacity)

    @property
    def unfinished(self) -> int:
        """Requests in the engine itself, queued or running."""
        return self._engine.unfinished if self._engine else 0

    def metrics(self) -> Iterable[Metric]:
        """The engine's own counters; none while there is no engine."""
        engine = self._engine
        return engine.metrics() if engine else ()

    async def shutdown(self) -> None:
        """End the engine. One that is still loading ends with its processes, or when ready."""
        self._abandoned = True
        task, self._task = self._task, None
        if task:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._failure = self._failure or EngineError(ENDED)
        self._settled.set()
        self._trusted.set()
        engine, self._engine = self._engine, None
        if engine:
            await asyncio.to_thread(engine.shutdown)

    async def _live(self) -> None:
        in_a_row = 0
        while True:
            await asyncio.sleep(pause_s(in_a_row))
            fault = await self._start()
            if fault is None:
                log.info("%s engine: ready", self.role)
                started = time.monotonic()
                fault = await self._watch()
                if time.monotonic() - started > STEADY_S:
                    in_a_row = 0
            in_a_row += 1
            # A first start that fails by itself would fail again.
            if self._is_last(in_a_row) or not (self.restarts or fault.may_pass):
                self._give_up(fault, in_a_row)
                return
            self.restarts += 1
            self._state, self._doing = "restarting", fault.message
            log.warning("%s engine: %s (start %d follows)", self.role, fault.message, in_a_row + 1)

    async def _start(self) -> BifocalError | None:
        """Load the engine in a thread; the error that kept it from coming."""
        loop = asyncio.get_running_loop()
        pool = ThreadPoolExecutor(1, thread_name_prefix=f"load-{self.role}")
        loading = loop.run_in_executor(pool, self._load, self._report)
        self.is_loading = True
        try:
            engine = await asyncio.shield(loading)
        except asyncio.CancelledError:
            await asyncio.wait([loading])
            with suppress(Exception):
                self._engine = loading.result()
            raise
        except BifocalError as error:
            return error
        except Exception as error:
            # Whoever waits for the engine must not wait for ever.
            log.exception("the %s engine did not start", self.role)
            return EngineError(f"The {self.role} engine did not start ({type(error).__name__}).")
        finally:
            self.is_loading = False
            pool.shutdown(wait=False)
        self._engine = engine
        self._state, self._doing = "ready", self._detail
        self._settled.set()
        return None

    async def _watch(self) -> EngineError:
        """Until the engine dies or hangs; why. It is cleared away then."""
        engine = self._engine
        assert engine is not None
        fault = await self._fault_of(engine)
        # From here on whoever wants an engine waits for the next one.
        self._settled.clear()
        self._engine = None
        self._trusted.set()
        self._state, self._doing = "restarting", fault.message
        await asyncio.to_thread(engine.kill)
        await self._requests_told()
        await asyncio.to_thread(engine.shutdown)
        del engine
        heap.collect()
        return fault

    async def _fault_of(self, engine: Engine) -> EngineError:
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(HEALTH_INTERVAL_S):
                    await self._look.wait()
            self._look.clear()
            try:
                await engine.check_health()
            except EngineError as error:
                return EngineError(error.message, may_pass=True)
            except Exception as error:
                log.exception("the %s engine cannot be asked for its health", self.role)
                kind = type(error).__name__
                return EngineError(f"The {self.role} engine does not answer ({kind}).")
            if not self._look.is_set():
                self._trusted.set()

    async def _requests_told(self) -> None:
        """Until nobody is in the dead engine any more, or for some seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(TELL_WITHIN_S):
                await self._empty.wait()

    def _is_last(self, in_a_row: int) -> bool:
        return self._most_restarts is not None and in_a_row > self._most_restarts

    def _give_up(self, fault: BifocalError, in_a_row: int) -> None:
        if in_a_row > 1:
            fault = EngineError(
                f"{fault.message} It was started {in_a_row} times in a row without lasting success "
                "and is given up: look into the log, then start the app again."
            )
        log.error("%s engine: %s", self.role, fault.message)
        self._failure = fault
        self._state, self._doing = "failed", fault.message
        self._settled.set()

    def _report(self, doing: str) -> None:
        """Called by the loader between its steps, which is where it can be stopped."""
        if self._abandoned:
            raise EngineError(ENDED)
        if doing != self._doing:
            log.info("%s engine: %s", self.role, doing)
        self._doing = doing
