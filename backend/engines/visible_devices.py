"""Which devices an engine process sees, where a variable of its environment says so."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from backend.engines.qaic_args import VISIBLE_DEVICES
from backend.plan import Plan

_lock = threading.Lock()


@contextmanager
def visible_devices(plan: Plan, role: str) -> Iterator[None]:
    """The engine process sees its devices alone; the variable that says so is the process's own.

    On QAIC only an eager engine is told so; the others' `device_group` counts only without it.
    """
    if plan.target == "cpu":
        yield
        return
    variable, devices = VISIBLE_DEVICES, plan.eager_devices
    if plan.target == "cuda":
        variable = "CUDA_VISIBLE_DEVICES"
        devices = plan.language_devices if role == "language" else plan.vision_devices
    if not devices and variable not in os.environ:
        # Nothing to change: engines that compile for hours need not wait for each other.
        yield
        return
    with _lock:
        before = os.environ.pop(variable, None)
        if devices:
            os.environ[variable] = ",".join(map(str, devices))
        try:
            yield
        finally:
            os.environ.pop(variable, None)
            if before is not None:
                os.environ[variable] = before


@contextmanager
def configuring_devices(plan: Plan, role: str) -> Iterator[None]:
    """The same while an engine's configuration is made, on QAIC, whose platform looks at them then.

    CUDA must not be asked under a variable that changes again.
    """
    if plan.target == "qaic":
        with visible_devices(plan, role):
            yield
    else:
        yield
