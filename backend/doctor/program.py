"""Asking a vendor's program about its devices."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

ASK_S: Final = 20.0


class NoAnswerError(Exception):
    """The program is not there, or says nothing of use; why, as part of a sentence."""


def find_program(name: str, *elsewhere: Path) -> Path | None:
    """A program on PATH, or in one of the folders that it is installed to."""
    found = shutil.which(name)
    if found:
        return Path(found)
    return next((folder / name for folder in elsewhere if (folder / name).is_file()), None)


def ask(program: Path, *words: str) -> str:
    """What it prints. Raises NoAnswerError."""
    try:
        done = subprocess.run(
            [program, *words], capture_output=True, text=True, timeout=ASK_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise NoAnswerError(f"{program.name} did not answer for {ASK_S:.0f} seconds") from None
    except OSError as error:
        raise NoAnswerError(f"{program.name} cannot be run ({error.strerror})") from None
    if done.returncode:
        said = next(iter((done.stderr or done.stdout).strip().splitlines()), "no reason given")
        raise NoAnswerError(f"{program.name} failed ({said[:200]})")
    return done.stdout
