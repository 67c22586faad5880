"""`vllm serve` processes on this machine, started with the lines that `engine-args` prints."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import httpx

from backend.settings import repository
from tests.readme import LANGUAGE, VISION, at, command

KEY = "a-key-of-the-tests"
UP_WITHIN_S = 240


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on."""
    probes = [socket.socket() for _ in range(count)]
    for probe in probes:
        probe.bind(("127.0.0.1", 0))
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def printed_lines(vision_url: str, language_url: str) -> dict[str, str]:
    """What the README's `engine-args` prints, by the role in the comment before each line."""
    words = at(command("Scaling", "engine-args"), {VISION: vision_url, LANGUAGE: language_url})
    done = subprocess.run(
        [sys.executable, *words],
        cwd=repository(), capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    return {
        lines[number - 1].removeprefix("# "): line
        for number, line in enumerate(lines)
        if "vllm serve" in line
    }


class VllmServer:
    """One process group; `start` it again after `kill`."""

    def __init__(self, line: str, log: Path, *more: str, key: str | None = KEY) -> None:
        self._line, self._log, self._more, self._key = line, log, more, key
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, line: str | None = None) -> None:
        """As a person would in a shell whose PATH has the environment's programs."""
        bin_folder = str(Path(sys.executable).parent)
        environment = {
            **os.environ,
            "PATH": f"{bin_folder}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(repository()), os.environ.get("PYTHONPATH", "")]),
            **({"VLLM_API_KEY": self._key} if self._key else {}),
        }
        with self._log.open("ab") as out:
            self._process = subprocess.Popen(
                ["bash", "-c", f"exec {' '.join([line or self._line, *self._more])}"],
                cwd=repository(),
                env=environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def kill(self) -> None:
        """All of it at once, as when a host goes away."""
        if self._process:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(30)
            self._process = None

    def wait(self, url: str) -> None:
        """Until it answers."""
        deadline = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < deadline:
            with suppress(httpx.HTTPError):
                if httpx.get(f"{url}/health", verify=False, trust_env=False).status_code == 200:
                    return
            assert self._process and self._process.poll() is None, self.log_end()
            time.sleep(0.5)
        raise AssertionError(f"{url} did not come up:\n{self.log_end()}")

    def log_end(self) -> str:
        return self._log.read_text(errors="replace")[-4000:]


def end(servers: Sequence[VllmServer]) -> None:
    for server in servers:
        server.kill()
