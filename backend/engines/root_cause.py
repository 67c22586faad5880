"""Why an engine process failed to start, told by that process to the one that started it.

vLLM logs the reason in the engine process, as a stack trace on the terminal, and reports to the
starting process only that there was one. The plugin, which vLLM loads in every process, listens to
that log and leaves the exception in a folder that both know.
"""

from __future__ import annotations

import atexit
import io
import json
import logging
import os
import sys
import tempfile
from contextlib import suppress
from multiprocessing.util import Finalize
from pathlib import Path
from typing import Final

FOLDER: Final = "ENGINE_FAULTS_OF_BIFOCAL"
"""Environment variable with the folder's name; engine processes inherit it."""
LOGGERS: Final = ("vllm.v1.engine.core", "vllm.v1.executor.multiproc_executor")
LONGEST: Final = 300
"""Characters of a reason that are told."""
PASSING_ON: Final = ("WorkerProc initialization failed", "Engine core initialization failed")
"""Reasons that only say that another process has one."""


def make_folder() -> None:
    """In the starting process: a folder for the faults of the engines it will start."""
    if FOLDER not in os.environ:
        os.environ[FOLDER] = tempfile.mkdtemp(prefix="bifocal-faults-")
        atexit.register(remove_folder)


def take_root_cause() -> str | None:
    """In the starting process: the reason that an engine process left since the last call."""
    found = None
    for path in sorted(Path(os.environ.get(FOLDER, "/nonexistent")).glob("*.json")):
        with suppress(OSError, ValueError):
            found = str(json.loads(path.read_text("utf-8"))["reason"])
            path.unlink()
    return found


def remove_folder() -> None:
    """In the starting process, at its end."""
    take_root_cause()
    name = os.environ.pop(FOLDER, None)
    if name:
        with suppress(OSError):
            Path(name).rmdir()


class Telling(logging.Filter):
    """Passes every record on; of an exception while an engine starts, without the stack trace."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Leave the exception of a record in the folder, if there is one."""
        error = record.exc_info[1] if record.exc_info else None
        folder = os.environ.get(FOLDER)
        if error is None or folder is None or "failed to start" not in record.getMessage():
            return True
        reason = " ".join(str(error).split())[:LONGEST] or type(error).__name__
        if not reason.startswith(PASSING_ON):
            with suppress(OSError):
                text = json.dumps({"reason": reason, "kind": type(error).__name__})
                Path(folder, f"{os.getpid()}.json").write_text(text, "utf-8")
        # Whoever asked for vLLM's log has the trace; a person's terminal has the reason.
        wanted = logging.getLogger("vllm").getEffectiveLevel() < logging.ERROR
        if not wanted:
            # The process ends with the same exception, whose trace Python prints after this.
            Finalize(None, _hush, exitpriority=0)
        return wanted


def _hush() -> None:
    sys.stderr = io.StringIO()


def tell_root_cause() -> None:
    """In an engine process: listen to vLLM's log."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        if not any(isinstance(known, Telling) for known in logger.filters):
            logger.addFilter(Telling())
