"""A small web server on the loopback, good and bad, for the fetch tests."""

from __future__ import annotations

import gzip
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from backend.errors import InputError
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits

from .pictures import quarters, saved

PICTURE = saved(quarters())
BIG = b"\0" * 3_000_000


class Handler(BaseHTTPRequestHandler):
    """Answers by path; remembers what it was asked."""

    protocol_version = "HTTP/1.1"
    server: WebServer

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.server.asked.append((self.headers.get("Host", ""), self.path))
        self.server.headers.append(dict(self.headers))
        name = parts.path.strip("/").replace("-", "_").partition(".")[0]
        try:
            if name.isdigit():
                self.send(b"secret words of the body", int(name))
            else:
                getattr(self, f"answer_{name}")(parse_qs(parts.query))
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for key, value in {"Content_Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def answer_cat(self, query: dict[str, list[str]]) -> None:
        self.send(PICTURE, Content_Type="image/png")

    def answer_text(self, query: dict[str, list[str]]) -> None:
        self.send(b"hello, I am text")

    def answer_big(self, query: dict[str, list[str]]) -> None:
        self.send(BIG)

    def answer_big_without_length(self, query: dict[str, list[str]]) -> None:
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        for _ in range(1000):
            self.wfile.write(b"\0" * 100_000)
            self.server.sent += 100_000

    def answer_bomb(self, query: dict[str, list[str]]) -> None:
        self.send(gzip.compress(b"\0" * 50_000_000), Content_Encoding="gzip")

    def answer_packed(self, query: dict[str, list[str]]) -> None:
        self.send(gzip.compress(PICTURE), Content_Encoding="gzip")

    def answer_packed_badly(self, query: dict[str, list[str]]) -> None:
        self.send(b"secret words of the body", Content_Encoding="gzip")

    def answer_redirect_with_a_bomb(self, query: dict[str, list[str]]) -> None:
        """Its body, which nobody needs, never ends."""
        self.close_connection = True
        self.send(b"", 302, Location="/cat.png", Content_Length=str(10**12))
        for _ in range(1000):
            self.wfile.write(b"\0" * 100_000)
            self.server.sent += 100_000

    def answer_cookie(self, query: dict[str, list[str]]) -> None:
        self.send(b"", 302, Location="/cat.png", Set_Cookie="id=1; Path=/")

    def answer_html(self, query: dict[str, list[str]]) -> None:
        self.send(b"<!doctype html><html>secret words of the body</html>", Content_Type="image/png")

    def answer_lie(self, query: dict[str, list[str]]) -> None:
        self.close_connection = True
        self.send(PICTURE[:100], Content_Length=str(len(PICTURE)))

    def answer_nonsense(self, query: dict[str, list[str]]) -> None:
        """Whatever the query says, in the place of an answer."""
        self.close_connection = True
        self.wfile.write(query["say"][0].encode("latin-1"))

    def answer_slow_body(self, query: dict[str, list[str]]) -> None:
        self.send(b"", Content_Length="1000")
        self.drip(b"\0")

    def answer_slow_closing_body(self, query: dict[str, list[str]]) -> None:
        self.send(b"", Content_Length="1000", Connection="close")
        self.drip(b"\0")

    def answer_slow_headers(self, query: dict[str, list[str]]) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        self.drip(b"X-A: b\r\n")

    def answer_silent(self, query: dict[str, list[str]]) -> None:
        time.sleep(20)

    def drip(self, piece: bytes) -> None:
        """A piece every 50 ms, for longer than any test waits."""
        self.close_connection = True
        for _ in range(400):
            self.wfile.write(piece)
            time.sleep(0.05)

    def answer_redirect(self, query: dict[str, list[str]]) -> None:
        self.send(b"", 302, Location=query["to"][0])

    def answer_moved_nowhere(self, query: dict[str, list[str]]) -> None:
        self.send(b"", 302)

    def answer_loop(self, query: dict[str, list[str]]) -> None:
        self.send(b"", 301, Location="/loop")

    def answer_hops(self, query: dict[str, list[str]]) -> None:
        left = int(query["n"][0])
        self.send(b"", 307, Location=f"/hops?n={left - 1}" if left > 1 else "/cat.png")

    def log_message(self, *args: object) -> None:
        pass


class WebServer(ThreadingHTTPServer):
    """Serves in a thread until closed."""

    daemon_threads = True

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__((address, 0), Handler)
        self.asked: list[tuple[str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.sent = 0
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle is what many tests are about."""

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def url(self, path: str, host: str = "") -> str:
        return f"http://{host or self.server_address[0]!s}:{self.port}/{path}"


def refusal(url: str, limits: IntakeLimits) -> InputError:
    """The error of a fetch, whose message shows nothing of what was sent or of our own code."""
    with pytest.raises(InputError) as caught:
        fetch(url, limits)
    for leak in ("secret words", "0x", "Traceback", "urllib3", "HTTPConnection"):
        assert leak not in caught.value.message
    return caught.value
