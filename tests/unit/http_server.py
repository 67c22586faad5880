"""As much of a `vllm serve` as its client can tell: a server on a real socket, without vLLM."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

STATUSES = {
    200: "OK",
    400: "Bad",
    401: "No",
    403: "No",
    404: "No",
    413: "Bad",
    500: "Bad",
    503: "Wait",
}
METRICS = '# TYPE vllm:requests counter\nvllm:requests_total{engine="0"} 7.0\n'


class HttpServer:
    """Serves `model`; `says` has other answers by path: a status and a body."""

    def __init__(self, model: str, key: str | None = None) -> None:
        self.model, self.key = model, key
        self.says: dict[str, tuple[int, str]] = {}
        self.pieces: list[str] = []
        self.asked: list[tuple[str, Any]] = []
        self.gate, self.gone = asyncio.Event(), asyncio.Event()
        self.gate.set()
        self.length = 16384
        self.port = 0
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self, tls: ssl.SSLContext | None = None) -> None:
        """Listen, on the same port as before if there was one."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=tls)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Go away, in the middle of whatever is being answered."""
        if self._server:
            self._server.close()
            for writer in list(self._open):
                writer.transport.abort()
            self._server = None
            await asyncio.sleep(0)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                request, *lines = head.splitlines()
                fields = dict(line.lower().split(": ", 1) for line in lines if ": " in line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                path = request.split()[1]
                await self._answer(path, fields, body, writer, reader)
        self._open.discard(writer)
        writer.close()

    async def _answer(
        self,
        path: str,
        fields: dict[str, str],
        body: bytes,
        writer: asyncio.StreamWriter,
        reader: asyncio.StreamReader,
    ) -> None:
        if path in self.says:
            await self._write(writer, *self.says[path])
        elif path == "/health":
            await self._write(writer, 200, "")
        elif path == "/metrics":
            await self._write(writer, 200, METRICS)
        elif self.key and fields.get("authorization") != f"bearer {self.key}":
            await self._write(writer, 401, '{"error": "Unauthorized"}')
        elif path == "/v1/models":
            model = {"id": self.model, "max_model_len": self.length}
            await self._write(writer, 200, json.dumps({"data": [model]}))
        elif body in (b"", b"{}"):
            await self._write(writer, 400, '{"error": {"message": "empty"}}')
        else:
            self.asked.append((path, json.loads(body)))
            await self._stream(writer, reader)

    async def _write(self, writer: asyncio.StreamWriter, status: int, body: str) -> None:
        head = f"HTTP/1.1 {status} {STATUSES[status]}\r\ncontent-length: {len(body.encode())}\r\n"
        writer.write(f"{head}\r\n{body}".encode())
        await writer.drain()

    async def _stream(self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader) -> None:
        """`pieces`, the first at once, the others through the gate; notices who leaves."""
        leaving = asyncio.ensure_future(reader.read(1))
        writer.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
        for number, piece in enumerate(self.pieces):
            if number:
                waiting = asyncio.ensure_future(self.gate.wait())
                await asyncio.wait({waiting, leaving}, return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
                if leaving.done():
                    self.gone.set()
                    raise ConnectionError
            writer.write(f"{len(piece.encode()):x}\r\n{piece}\r\n".encode())
            await writer.drain()
        leaving.cancel()
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        raise ConnectionError


@asynccontextmanager
async def serving(*servers: HttpServer, tls: ssl.SSLContext | None = None) -> AsyncIterator[None]:
    """While they listen."""
    for server in servers:
        await server.start(tls)
    try:
        yield
    finally:
        for server in servers:
            await server.stop()
