"""Which devices an engine process sees, where a variable of its environment says so."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from backend.engines.qaic_args import VISIBLE_DEVICES
from backend.plan import Plan

LOOK_S = 0.02
"""Between two looks for an engine process that is about to be made."""

T = TypeVar("T")

_lock = threading.Lock()


def start_on(plan: Plan, devices: Sequence[int], start: Callable[[], T]) -> T:
    """What `start` returns; the engine process that it makes sees its devices alone.

    They are told by a variable of this process's own, which a process inherits when it is made. On
    CUDA others may start theirs as soon as that has happened: loading goes on side by side.
    """
    if plan.target != "cuda":
        with configuring_devices(plan):
            return start()
    pool = ThreadPoolExecutor(1, thread_name_prefix="start")
    with _lock, _variable("CUDA_VISIBLE_DEVICES", devices):
        known = _children()
        starting = pool.submit(start)
        while not starting.done() and _children() <= known:
            time.sleep(LOOK_S)
    pool.shutdown(wait=False)
    return starting.result()


@contextmanager
def configuring_devices(plan: Plan) -> Iterator[None]:
    """The same while an engine's configuration is made, on QAIC, whose platform looks at them then.

    There only an eager engine is told so; the others' `device_group` counts only without it. CUDA
    must not be asked under a variable that changes again.
    """
    devices = plan.eager_devices if plan.target == "qaic" else ()
    if plan.target != "qaic" or (not devices and VISIBLE_DEVICES not in os.environ):
        # Nothing to change: engines that compile for hours need not wait for each other.
        yield
        return
    with _lock, _variable(VISIBLE_DEVICES, devices):
        yield


def _children() -> set[int | None]:
    return {child.pid for child in multiprocessing.active_children()}


@contextmanager
def _variable(name: str, devices: Sequence[int]) -> Iterator[None]:
    """Unset where there are no devices."""
    before = os.environ.pop(name, None)
    if devices:
        os.environ[name] = ",".join(map(str, devices))
    try:
        yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before
