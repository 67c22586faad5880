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
from ui.disk import check_space, own_folder, upload_folder
from ui.sharing import Sharing, close_tunnels, open_to_others, with_password

STOP_WITHIN_S = 5


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """Serve until interrupted. Raises SettingError where the address cannot be had."""
    asyncio.run(_serve(settings))


async def _serve(given: Settings) -> None:
    check_space(upload_folder())
    with own_folder(upload_folder()):
        await _serve_page(given)


async def _serve_page(given: Settings) -> None:
    settings = with_password(given)
    backend = Bifocal(settings)
    listening = listen(settings.host, settings.port)
    sharing = None
    if settings.share:
        sharing = Sharing(settings, random_password=settings is not given)
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"

    from ui.app import create_app

    config = uvicorn.Config(
        create_app(backend, sharing=sharing),
        log_level="warning",
        timeout_graceful_shutdown=STOP_WITHIN_S,
    )
    server = _PageFirst(config, backend, sharing)
    try:
        await server.serve(sockets=[listening])
    finally:
        server.close_link()
        await backend.shutdown()
    if server.interrupted:
        raise KeyboardInterrupt


class _PageFirst(uvicorn.Server):
    """Begins to load the engines once the page is being served."""

    def __init__(self, config: uvicorn.Config, backend: Bifocal, sharing: Sharing | None) -> None:
        super().__init__(config)
        self._backend = backend
        self._sharing = sharing
        self._opening: asyncio.Task[None] | None = None
        self.interrupted = False

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.interrupted = self.interrupted or sig == signal.SIGINT
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        host, port = sockets[0].getsockname()[:2] if sockets else ("", 0)
        shown = f"[{host}]" if ":" in host else host
        print(f"Bifocal is on http://{shown}:{port}", file=sys.stderr, flush=True)
        if warning := open_to_others(host, self._backend.settings):
            print(warning, file=sys.stderr, flush=True)
        if self._sharing:
            print("Asking Gradio for a share link; the login is told with it.", file=sys.stderr)
            self._opening = asyncio.create_task(self._sharing.open(host, port))
        self._backend.start()

    def close_link(self) -> None:
        """Nobody comes in by the link any more."""
        if self._opening:
            self._opening.cancel()
            close_tunnels()


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
