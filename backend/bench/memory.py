"""Memory of processes, at their peak, with what they share counted once. Linux."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import psutil

KIB = 1024


def child_pids() -> set[int]:
    """All processes below this one."""
    return {child.pid for child in psutil.Process().children(recursive=True)}


def peaks(pids: Sequence[int]) -> list[int]:
    """What each of the processes had resident at most: `VmHWM` of proc(5)."""
    return [_field(Path(f"/proc/{pid}/status"), "VmHWM:") for pid in pids]


def peak_bytes(pids: Sequence[int]) -> int:
    """The same added up, less what the processes share with each other.

    Shared are the pages of libraries, which every process of them maps: they count as often as
    the process with the most of them has them, which is once.
    """
    shared = [_shared(pid) for pid in pids]
    return sum(peaks(pids)) - sum(shared) + max(shared, default=0)


def _shared(pid: int) -> int:
    path = Path(f"/proc/{pid}/smaps_rollup")
    return _field(path, "Shared_Clean:") + _field(path, "Shared_Dirty:")


def _field(path: Path, name: str) -> int:
    for line in path.read_text("ascii").splitlines():
        if line.startswith(name):
            return int(line.split()[1]) * KIB
    return 0
