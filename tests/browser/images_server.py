"""A small HTTP server of pictures, standing in for the web."""

from __future__ import annotations

import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any


class _Quiet(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, seen: list[str], **kwargs: Any) -> None:
        self._seen = seen
        super().__init__(*args, **kwargs)

    def do_GET(self) -> None:
        self._seen.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on the terminal."""


class ImageServer:
    """Serves one folder; `seen` are the paths that were asked for."""

    def __init__(self, folder: Path) -> None:
        self.seen: list[str] = []
        handler = partial(_Quiet, directory=str(folder), seen=self.seen)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port: int = self._server.server_address[1]

    def url(self, name: str) -> str:
        """The address of a picture."""
        return f"http://127.0.0.1:{self.port}/{name}"

    def __enter__(self) -> ImageServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
