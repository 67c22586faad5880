"""The simulated card's board: which process has which device."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.qaic_simulation import BOARD
from tests.qaic_simulation.rules import CardError

_held: list[Any] = []
"""Open files of this process's devices; the system lets them go with the process."""


def take_devices(group: Sequence[int]) -> None:
    """Raises CardError where another engine has one of them."""
    for qid in group:
        file = Path(os.environ[BOARD], f"qid{qid}").open("w")  # noqa: SIM115 - held for good
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CardError(f"device {qid} is in use by another engine") from None
        _held.append(file)
