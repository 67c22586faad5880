"""Room for uploads: Gradio keeps the pictures of a day, each app in a folder of its own."""

from __future__ import annotations

import errno
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import psutil

from backend.errors import EngineError, SettingError

LEAST_FREE: Final = 200_000_000
"""Bytes that must be free when the app starts."""
FOLDER: Final = "GRADIO_TEMP_DIR"
"""Environment variable: where Gradio keeps uploads, if not among temporary files."""
PREFIX: Final = "bifocal-uploads-"
DAY: Final = 24 * 60 * 60
"""Seconds for which an upload is kept."""
FULL: Final = (errno.ENOSPC, errno.EDQUOT)


def upload_folder() -> Path:
    """Where uploads go."""
    return Path(os.environ.get(FOLDER) or tempfile.gettempdir())


def check_space(folder: Path) -> None:
    """Raises SettingError where uploads could not be kept."""
    remedy = f"free some space, or choose another folder with the variable {FOLDER}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            free = shutil.disk_usage(folder).free
    except OSError as error:
        raise SettingError(
            f"Uploads cannot be kept in {folder} ({error.strerror}): {remedy}."
        ) from None
    if free < LEAST_FREE:
        raise SettingError(
            f"Only {free / 1e6:.0f} MB are free for uploads in {folder}, and "
            f"{LEAST_FREE / 1e6:.0f} are wanted: {remedy}."
        )


@contextmanager
def own_folder(parent: Path) -> Iterator[Path]:
    """Uploads go into a folder of this app alone, which is gone when the app ends.

    Gradio names an upload by its content and deletes it when its app ends: of two apps with one
    folder, the first to end would take the pictures that both were given.
    """
    _sweep(parent)
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=parent))
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = str(folder)
    try:
        yield folder
    finally:
        if before is None:
            del os.environ[FOLDER]
        else:
            os.environ[FOLDER] = before
        shutil.rmtree(folder, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Folders of apps that were killed: their process is gone, and nothing was given for a day."""
    for folder in parent.glob(f"{PREFIX}*"):
        found = re.fullmatch(rf"{PREFIX}(\d+)-\w+", folder.name)
        with suppress(OSError):
            is_old = time.time() - folder.stat().st_mtime > DAY
            if found and is_old and not psutil.pid_exists(int(found[1])):
                shutil.rmtree(folder, ignore_errors=True)


def disk_full(error: Exception) -> EngineError | None:
    """What a visitor is told over an error, if it is one of a full disk."""
    if isinstance(error, OSError) and error.errno in FULL:
        return EngineError(
            "The app has no space left for uploads: tell whoever runs it. Questions without new "
            "pictures still work.",
            "no_space",
        )
    return None
