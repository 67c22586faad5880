"""Engine processes that are still starting: giving them up, and how one ended."""

import gc
import multiprocessing
import os
import signal
import time
from multiprocessing.process import BaseProcess

EXIT_WITHIN_S = 1.0
"""vLLM hears that a process has gone a moment before the system tells how."""


def abandon_engines() -> None:
    """Kill the engine processes this process has started; their workers follow them.

    vLLM offers no way to interrupt a start. The thread that waits for it then fails, and ends.
    """
    for child in multiprocessing.active_children():
        if child.pid is not None:
            os.kill(child.pid, signal.SIGKILL)


def fatal_signal() -> str | None:
    """The name of the signal that ended a child of this process just now; None if it was none.

    Asked once vLLM has given up a start, whose process has then ended, by itself or by a signal.
    """
    # Not `active_children`, which forgets those that have ended; vLLM still holds them.
    found = [thing for thing in gc.get_objects() if issubclass(type(thing), BaseProcess)]
    children = [child for child in found if getattr(child, "_parent_pid", None) == os.getpid()]
    deadline = time.monotonic() + EXIT_WITHIN_S
    while time.monotonic() < deadline:
        ended = [code for child in children if (code := child.exitcode) is not None]
        if ended:
            signals = [-code for code in ended if code < 0]
            return signal.Signals(signals[0]).name if signals else None
        time.sleep(0.02)
    return None
