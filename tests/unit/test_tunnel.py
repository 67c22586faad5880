"""Gradio's tunnel: how it is asked for, and why there is none, in plain words."""

import asyncio
import subprocess
import sys
from typing import Any

import httpx
import pytest
from gradio import networking, tunneling
from gradio.exceptions import ChecksumMismatchError, ShareCertificateWriteError

from ui import tunnel as ours
from ui.sharing import close_tunnels
from ui.tunnel import NoTunnel, end_dead_programs, gradio_tunnel, open_in_background, why_not


def after(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (after(RuntimeError("x"), httpx.ConnectError("no name")), "cannot be reached"),
        (after(RuntimeError("x"), httpx.ReadTimeout("slow")), "cannot be reached"),
        (httpx.ConnectTimeout("blocked"), "cannot be reached"),
        (
            httpx.HTTPStatusError(
                "x", request=httpx.Request("GET", "https://x"), response=httpx.Response(500)
            ),
            "cannot be downloaded",
        ),
        (ChecksumMismatchError(), "delete it"),
        (ShareCertificateWriteError("read-only"), ".gradio cannot be written"),
        (PermissionError(13, "Permission denied"), "Permission denied"),
        (ValueError("login to server failed"), "no address"),
        (AssertionError(), "no address"),
        (after(RuntimeError("x"), KeyError("host")), "no answer that can be used"),
    ],
)
def test_every_reason_is_told_in_plain_words(error: Exception, words: str) -> None:
    reason = why_not(error)
    assert words in reason
    assert "Error" not in reason


def test_this_apps_port_is_tunnelled_by_gradio(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def setup_tunnel(*arguments: Any) -> str:
        asked.append(arguments)
        return "http://abc.gradio.live"

    monkeypatch.setattr(networking, "setup_tunnel", setup_tunnel)
    monkeypatch.setattr(networking, "GRADIO_SHARE_SERVER_ADDRESS", None)
    assert gradio_tunnel("127.0.0.1", 7861) == "https://abc.gradio.live"
    monkeypatch.setattr(networking, "GRADIO_SHARE_SERVER_ADDRESS", "own.example:7000")
    assert gradio_tunnel("127.0.0.1", 7861) == "http://abc.gradio.live"
    assert [arguments[:2] for arguments in asked] == [("127.0.0.1", 7861)] * 2
    tokens = {arguments[2] for arguments in asked}
    assert len(tokens) == 2
    assert min(map(len, tokens)) >= 32


def test_gradios_function_takes_what_it_is_given() -> None:
    """The stand-in above would hide a change of Gradio's."""
    code = networking.setup_tunnel.__code__
    assert code.co_varnames[: code.co_argcount] == (
        "local_host", "local_port", "share_token", "share_server_address",
        "share_server_tls_certificate",
    )  # fmt: skip


async def test_gradios_own_failure_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradio's real code, up to a service that is not there."""
    monkeypatch.setattr(networking, "GRADIO_SHARE_SERVER_ADDRESS", None)
    monkeypatch.setattr(networking, "GRADIO_API_SERVER", "http://127.0.0.1:9/")
    with pytest.raises(NoTunnel, match="cannot be reached"):
        await asyncio.wait_for(open_in_background(gradio_tunnel, "127.0.0.1", 7861), 20)


async def test_a_tunnel_program_that_ended_is_not_read_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Gradio's loop over its output took a whole core until a time limit, half a minute later."""
    monkeypatch.setattr(ours, "WATCH_S", 0.01)
    monkeypatch.setattr(tunneling, "BINARY_PATH", sys.executable)
    monkeypatch.setattr(tunneling, "CURRENT_TUNNELS", [])
    monkeypatch.setattr(tunneling.Tunnel, "download_binary", staticmethod(lambda: None))
    monkeypatch.setattr(networking, "GRADIO_SHARE_SERVER_ADDRESS", "127.0.0.1:9")
    watching = asyncio.create_task(end_dead_programs())
    with pytest.raises(NoTunnel, match="no address"):
        await asyncio.wait_for(open_in_background(gradio_tunnel, "127.0.0.1", 7861), 20)
    watching.cancel()


def test_open_tunnels_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    tunnel = tunneling.Tunnel("x", 1, "127.0.0.1", 7861, "token", None)
    tunnel.proc = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    program = tunnel.proc
    monkeypatch.setattr(tunneling, "CURRENT_TUNNELS", [tunnel])
    close_tunnels()
    assert program.wait(10) != 0
