"""`serve`: the web app. The page is up first; the engines load behind it."""

from __future__ import annotations

import argparse
import asyncio
import errno
import os
import signal
import socket
import sys
from types import FrameType

import uvicorn

from backend.errors import SettingError
from backend.service import Bifocal
from backend.settings import Settings
from ui.command_line.output import Output

STOP_WITHIN_S = 5


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """Serve until interrupted. Raises SettingError where the address cannot be had."""
    asyncio.run(_serve(settings))


async def _serve(settings: Settings) -> None:
    backend = Bifocal(settings)
    listening = listen(settings.host, settings.port)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

    from ui.app import create_app

    config = uvicorn.Config(
        create_app(backend), log_level="warning", timeout_graceful_shutdown=STOP_WITHIN_S
    )
    server = _PageFirst(config, backend)
    try:
        await server.serve(sockets=[listening])
    finally:
        await backend.shutdown()
    if server.interrupted:
        raise KeyboardInterrupt


class _PageFirst(uvicorn.Server):
    """Begins to load the engines once the page is being served."""

    def __init__(self, config: uvicorn.Config, backend: Bifocal) -> None:
        super().__init__(config)
        self._backend = backend
        self.interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
        shown = f"[{host}]" if ":" in host else host
        print(f"Bifocal is on http://{shown}:{port}", file=sys.stderr, flush=True)
        self._backend.start()


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 picks a free one."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
        return listening
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingError(f"Port {port} is in use: choose another with --port.") from None
        raise SettingError(
            f"Cannot listen on {host} port {port} ({error.strerror}): see --host and --port."
        ) from None
