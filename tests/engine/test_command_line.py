"""The command line as a person runs it: its own process, its own engines."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from backend.settings import repository

ASK = [sys.executable, "launch.py", "ask", "--num-images", "1"]
TIMEOUT_S = 180


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ASK, *words],
        cwd=repository(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


@pytest.fixture(scope="module")
def described() -> subprocess.CompletedProcess[str]:
    """One run of the command that the README shows, looked at by several tests."""
    return run("--prompt", "Describe this image.", "--json")


def test_ask_answers_with_the_result_object_alone_on_stdout(
    described: subprocess.CompletedProcess[str],
) -> None:
    assert described.returncode == 0, described.stderr
    result = json.loads(described.stdout)
    assert (result["topology"], result["target"], result["method"]) == ("split", "cpu", "chat")
    assert result["finish_reason"] == "stop"
    assert result["text"] == (
        "A large red circle at the middle left, a large blue star in the center and a large green "
        "square at the middle right, on a white background."
    )
    (image,) = result["images"]
    assert image["bucket"]["tokens"] == result["usage"]["image_tokens"] > 0
    assert image["bucket"]["fit"] == "stretch"
    assert image["cached"] is False
    assert result["timings"]["encode_s"] > 0
    assert result["timings"]["ttft_s"] > result["timings"]["encode_s"]


def test_ask_leaves_a_quiet_terminal(described: subprocess.CompletedProcess[str]) -> None:
    """vLLM's processes are noisy; a person sees our lines and no warnings or traces."""
    noise = ("Traceback", "Warning", "WARNING", "ERROR", "Exception")
    assert [line for line in described.stderr.splitlines() if any(n in line for n in noise)] == []


def started_until(said: str, command: list[str]) -> subprocess.Popen[str]:
    """The command in a session of its own, once it has said this on stderr."""
    process = subprocess.Popen(
        command,
        cwd=repository(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stderr is not None
    assert any(said in line for line in process.stderr), f"it ended without saying {said!r}"
    return process


def living(session: int) -> list[str]:
    """Processes of a session that are not merely waiting to be collected."""
    listing = ["ps", "-o", "stat=,args=", "-s", str(session)]
    lines = subprocess.run(listing, capture_output=True, text=True, check=False).stdout.splitlines()
    return [line for line in lines if not line.startswith("Z")]


def wait_until_gone(session: int) -> None:
    """Fails where a process of the session still lives after ten seconds."""
    deadline = time.monotonic() + 10
    while left := living(session):
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def test_killing_the_app_leaves_no_engine_behind() -> None:
    """Nobody can tidy up after SIGKILL; the engine processes have to notice."""
    serve = [sys.executable, "launch.py", "serve", "--port", "0"]
    process = started_until("engines ready", serve)
    assert sum("EngineCore" in line for line in living(process.pid)) == 2
    process.kill()
    process.wait()
    wait_until_gone(process.pid)


def test_interrupting_ask_ends_it_with_130_and_leaves_no_process() -> None:
    """Ctrl-C while the engines load: the exit status of the contract, no trace, nobody left."""
    process = started_until("starting the engine process", [*ASK, "--prompt", "Describe this."])
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    stdout, stderr = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 130
    assert stdout == ""
    assert "Traceback" not in stderr
    wait_until_gone(process.pid)
