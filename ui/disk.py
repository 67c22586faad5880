"""Room for uploads: Gradio keeps the pictures of a day in the folder for temporary files."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

from backend.errors import EngineError, SettingError

LEAST_FREE: Final = 200_000_000
"""Bytes that must be free when the app starts."""
FOLDER: Final = "GRADIO_TEMP_DIR"
"""Environment variable: where Gradio keeps uploads, if not among temporary files."""
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


def disk_full(error: Exception) -> EngineError | None:
    """What a visitor is told over an error, if it is one of a full disk."""
    if isinstance(error, OSError) and error.errno in FULL:
        return EngineError(
            "The app has no space left for uploads: tell whoever runs it. Questions without new "
            "pictures still work.",
            "no_space",
        )
    return None
