"""A hung process is told from one that works, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import psutil
import pytest

from backend.engines import pulse as module
from backend.engines.pulse import Pulse

from .eventually import until

WORKING = "while True: pass"
WAITING = "import time; time.sleep(600)"


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    monkeypatch.setattr(module, "WAIT_S", 0.02)
    made: list[subprocess.Popen[bytes]] = []
    yield made
    for process in made:
        process.kill()
        process.wait()


def start(started: list[subprocess.Popen[bytes]], program: str) -> int:
    started.append(subprocess.Popen([sys.executable, "-c", program]))
    return started[-1].pid


async def never() -> None:
    await asyncio.Event().wait()


async def seen(pulse: Pulse, within: float) -> str:
    """The first fault that is seen, or nothing."""
    deadline = time.monotonic() + within
    while time.monotonic() < deadline:
        if reason := await pulse.hung():
            return reason
    return ""


async def test_who_answers_is_not_hung(started: list[subprocess.Popen[bytes]]) -> None:
    asked = 0

    async def answer() -> None:
        nonlocal asked
        asked += 1

    pulse = Pulse([start(started, WAITING)], answer)
    for _ in range(5):
        assert await pulse.hung() == ""
    assert asked == 5


async def test_an_error_is_a_sign_of_life_too(started: list[subprocess.Popen[bytes]]) -> None:
    async def refuse() -> None:
        raise RuntimeError("not now")

    pulse = Pulse([start(started, WAITING)], refuse)
    assert await pulse.hung() == ""


async def test_who_neither_answers_nor_works_hangs(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_S", 0.3)
    pid = start(started, WAITING)
    await until(lambda: psutil.Process(pid).status() == psutil.STATUS_SLEEPING)
    assert "no answer" in await seen(Pulse([pid], never), within=20)


async def test_a_long_step_is_not_taken_for_hanging(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_S", 2.0)
    assert await seen(Pulse([start(started, WORKING)], never), within=4) == ""


async def test_work_in_a_child_counts(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine's workers may be processes of its own."""
    monkeypatch.setattr(module, "SILENT_S", 2.0)
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WORKING!r}])"
    pid = start(started, parent)
    await until(lambda: psutil.Process(pid).children())
    children = psutil.Process(pid).children()
    try:
        assert await seen(Pulse([pid], never), within=4) == ""
    finally:
        for child in children:
            child.kill()


async def test_a_stopped_process_is_found_sooner(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STOPPED_S", 0.1)
    pid = start(started, WORKING)
    os.kill(pid, signal.SIGSTOP)
    assert "stopped" in await seen(Pulse([pid], never), within=20)


async def test_it_kills_a_stopped_process_with_its_children(
    started: list[subprocess.Popen[bytes]],
) -> None:
    parent = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WAITING!r}])"
    pid = start(started, parent)
    await until(lambda: psutil.Process(pid).children())
    (child,) = psutil.Process(pid).children()
    os.kill(pid, signal.SIGSTOP)
    Pulse([pid], never).kill()
    assert started[-1].wait(10) == -signal.SIGKILL
    gone, alive = await asyncio.to_thread(psutil.wait_procs, [child], 10)
    assert (len(gone), alive) == (1, [])


async def test_processes_that_are_gone_are_no_trouble() -> None:
    """The engine's own report of its death is on the way then."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", "")
    await process.wait()
    pulse = Pulse([process.pid], never)
    assert await pulse.hung() == ""
    pulse.kill()
    pulse.close()
