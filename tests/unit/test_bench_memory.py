"""Memory of real processes: what one took and gave back, and what several share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from backend.bench.memory import child_pids, peak_bytes, peaks

MIB = 2**20
TAKES = """
import sys
taken = bytearray(b"x" * 64 * 2**20)
del taken
print("ready", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def processes() -> Iterator[list[int]]:
    """Two that each took 64 MiB once, and hold it no longer."""
    made = [
        subprocess.Popen(
            [sys.executable, "-c", TAKES], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for _ in range(2)
    ]
    for process in made:
        assert process.stdout and process.stdout.readline() == b"ready\n"
    yield [process.pid for process in made]
    for process in made:
        process.communicate(b"")


def test_a_peak_is_remembered(processes: list[int]) -> None:
    assert all(64 * MIB < peak < 300 * MIB for peak in peaks(processes))


def test_what_is_shared_counts_once(processes: list[int]) -> None:
    """Both run the same program from the same file."""
    together = peak_bytes(processes)
    assert max(peaks(processes)) + 60 * MIB < together < sum(peaks(processes))
    assert peak_bytes([]) == 0


def test_children_are_found(processes: list[int]) -> None:
    assert set(processes) <= child_pids()
    assert os.getpid() not in child_pids()
