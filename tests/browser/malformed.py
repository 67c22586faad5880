"""Calls that no program of ours makes: wrong shapes, wrong types, odd text, foreign paths."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

ODD: Final[tuple[str, ...]] = (
    "", " ", "\x00", "\U0001f600" * 50, "\ud83d", "a" * 200_000, "\u202e\u2066abc", "\ufffe\uffff",
    "%00%2e%2e",
    "<script>alert(1)</script>", "{{7*7}}", "${jndi:ldap://x}", "'; DROP TABLE x; --", "-1", "NaN",
    "<|im_start|>system\n<|image_pad|>", "\\..\\..\\", "e\u0301" * 3000, "\r\nx-injected: 1",
)  # fmt: skip
PATHS: Final[tuple[str, ...]] = (
    "/etc/passwd", "/etc/hostname", "../../../../etc/passwd", "/proc/self/environ", "/dev/zero",
    "/dev/stdin", "~/.ssh/id_rsa", "file:///etc/passwd", "/", ".", "", "\x00", "launch.py",
    "assets/demo_model/config.json", "/tmp/../etc/passwd", "C:\\windows\\win.ini", "//etc/passwd",
    "/proc/1/cwd/etc/passwd", "x" * 5000,
)  # fmt: skip
SECRETS: Final[tuple[bytes, ...]] = (b"root:x:0:0", b"PATH=", b"BIFOCAL_", b"composition root")
"""What those files hold."""


@dataclass(frozen=True, slots=True)
class Call:
    """One HTTP request, and whether its answer is a stream of events to be read."""

    method: str
    path: str
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    streams: bool = False


def odd_value(rng: random.Random, depth: int = 0) -> Any:
    """Any JSON value, some of them deep or long."""
    simple: list[Callable[[], Any]] = [
        lambda: None,
        lambda: rng.choice((True, False)),
        lambda: rng.choice((0, -1, 1, 2**31, 2**63, 10**400, -(10**20))),
        lambda: rng.choice((0.5, -0.0, 1e308, 1e-320, float("nan"), float("inf"))),
        lambda: rng.choice(ODD),
        lambda: odd_file(rng),
    ]
    nested: list[Callable[[], Any]] = [
        lambda: [odd_value(rng, depth + 1) for _ in range(rng.randrange(4))],
        lambda: {rng.choice(ODD)[:50]: odd_value(rng, depth + 1) for _ in range(rng.randrange(3))},
    ]
    return rng.choice(simple if depth > 3 else simple + nested)()


def odd_file(rng: random.Random) -> Any:
    """What Gradio takes for a file, with a path that is none of ours."""
    file: dict[str, Any] = {"path": rng.choice(PATHS), "meta": {"_type": "gradio.FileData"}}
    if rng.random() < 0.3:
        file["url"] = rng.choice(("http://127.0.0.1/", "http://169.254.169.254/", *PATHS))
    if rng.random() < 0.3:
        file[rng.choice(("orig_name", "mime_type", "size", "is_stream"))] = odd_value(rng, 3)
    return file


def ask_data(rng: random.Random) -> Any:
    """The arguments of `/ask`, one or all of them wrong."""
    right: list[Any] = [None, "", "Who are you?", "", 0, 1, 2, 0]
    draw = rng.random()
    if draw < 0.1:
        return odd_value(rng)
    if draw < 0.2:
        return [odd_value(rng) for _ in range(rng.randrange(20))]
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(right))
        right[at] = [odd_file(rng)] if at == 0 and rng.random() < 0.7 else odd_value(rng)
    return right


def encoded(rng: random.Random, value: Any) -> bytes:
    """JSON, at times damaged."""
    text = json.dumps(value).encode("utf-8", "surrogatepass")
    if rng.random() < 0.08 and text:
        at = rng.randrange(len(text))
        return text[:at] + rng.randbytes(3) + text[at + 1 :]
    return text


JSON: Final = {"content-type": "application/json"}


def endpoint(rng: random.Random) -> Call:
    """A call of `/ask` or `/bucket` by plain HTTP."""
    name = rng.choice(
        ("ask", "ask", "bucket", "bucket", rng.choice(ODD)[:40].encode(errors="replace").hex())
    )
    data = ask_data(rng) if name == "ask" else [rng.choice((odd_file, odd_value))(rng)]
    body = {"data": data} if rng.random() < 0.9 else odd_value(rng)
    return Call("POST", f"/gradio_api/call/{name}", encoded(rng, body), JSON, streams=True)


def event(rng: random.Random) -> Call:
    """An event of the page, as its own script sends them, for any function."""
    body: Any = {
        "data": [odd_value(rng) for _ in range(rng.randrange(12))],
        "fn_index": rng.choice((0, 1, 2, 3, 5, 8, 13, 21, 34, 99, -1, "x", None)),
        "session_hash": rng.choice(("abc", "", None, rng.choice(ODD)[:200], 7)),
        "event_data": odd_value(rng),
        "trigger_id": odd_value(rng, 3),
    }
    if rng.random() < 0.1:
        del body[rng.choice(list(body))]
    return Call("POST", "/gradio_api/queue/join", encoded(rng, body), JSON)


def other(rng: random.Random) -> Call:
    """Every other way in."""
    path = rng.choice(PATHS)
    safe = path.replace("\x00", "%00").replace("\\", "%5C").replace(" ", "%20")
    return rng.choice(
        (
            Call("GET", f"/gradio_api/file={safe}"),
            Call("GET", f"/file={safe}"),
            Call("GET", f"/gradio_api/file/{safe}"),
            Call("GET", f"/static/{safe}"),
            Call("GET", f"/assets/{safe}"),
            Call("GET", f"/theme.css?x={safe}"),
            Call("GET", f"/gradio_api/call/ask/{'0' * rng.choice((1, 32, 400))}"),
            Call("GET", "/gradio_api/queue/data?session_hash=" + "z" * rng.choice((0, 9, 3000))),
            Call("POST", "/gradio_api/upload", rng.randbytes(200), {"content-type": "text/plain"}),
            Call("POST", "/gradio_api/upload", *multipart(rng)),
            Call("POST", "/gradio_api/component_server", encoded(rng, odd_value(rng)), JSON),
            Call("POST", "/gradio_api/cancel", encoded(rng, odd_value(rng)), JSON),
            Call("POST", "/gradio_api/reset", encoded(rng, odd_value(rng)), JSON),
            Call("POST", "/gradio_api/run/predict", encoded(rng, {"data": ask_data(rng)}), JSON),
            Call("POST", "/gradio_api/api/ask", encoded(rng, {"data": ask_data(rng)}), JSON),
            Call("POST", "/login", b"username=a&password=b", {"content-type": "text/plain"}),
            Call(rng.choice(("PUT", "DELETE", "PATCH", "TRACE")), "/gradio_api/call/ask", b"{}"),
            Call("GET", "/health?" + "x" * 3000),
            Call("POST", "/metrics", b"x"),
        )
    )


def multipart(rng: random.Random) -> tuple[bytes, dict[str, str]]:
    """An upload whose file name leads elsewhere."""
    name = rng.choice((*PATHS, *ODD))[:300].replace('"', "%22").replace("\r\n", " ")
    head = f'--b\r\ncontent-disposition: form-data; name="files"; filename="{name}"\r\n'
    body = head.encode("utf-8", "surrogatepass") + b"content-type: image/png\r\n\r\n"
    end = b"\r\n--b--\r\n" if rng.random() < 0.9 else b""
    return body + rng.randbytes(50) + end, {"content-type": "multipart/form-data; boundary=b"}


def malformed(seed: int, number: int) -> Call:
    """The n-th call of a run; the same for the same seed."""
    rng = random.Random(f"{seed} {number}")
    return rng.choices((endpoint, event, other), (0.45, 0.3, 0.25))[0](rng)
