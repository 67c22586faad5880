"""Giving up engines that are still starting; vLLM offers no way to interrupt that."""

import multiprocessing
import os
import signal


def abandon_engines() -> None:
    """Kill the engine processes this process has started; their workers follow them.

    The thread that waits for them to start then fails, and ends.
    """
    for process in multiprocessing.active_children():
        if process.pid is not None:
            os.kill(process.pid, signal.SIGKILL)
