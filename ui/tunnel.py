"""Gradio's tunnel to a port of this machine, and in plain words why there is none."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
import threading
from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

Tunnel = Callable[[str, int], str]
"""Opens a way to a host and port of this machine; its public address. Blocking, may raise."""

WATCH_S = 0.5

log = logging.getLogger("bifocal")


class NoTunnel(Exception):
    """There is no tunnel; why, as a sentence for a person."""


def gradio_tunnel(host: str, port: int) -> str:
    """A `*.gradio.live` address, or one of `GRADIO_SHARE_SERVER_ADDRESS`.

    The first call downloads Gradio's tunnel program. Raises what Gradio raises.
    """
    from gradio import networking

    address: str = networking.setup_tunnel(host, port, secrets.token_urlsafe(32), None, None)
    own_server = networking.GRADIO_SHARE_SERVER_ADDRESS is not None
    return address if own_server else urlsplit(address)._replace(scheme="https").geturl()


def open_in_background(tunnel: Tunnel, host: str, port: int) -> asyncio.Future[str]:
    """The address to come, or NoTunnel.

    In a thread of its own, for which a program that ends does not wait.
    """
    loop = asyncio.get_running_loop()
    coming: asyncio.Future[str] = loop.create_future()

    def tell(set_outcome: Callable[..., None], outcome: object) -> None:
        def unless_given_up() -> None:
            if not coming.done():
                set_outcome(outcome)

        # A loop that has ended has nobody left to tell.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(unless_given_up)

    def work() -> None:
        try:
            tell(coming.set_result, tunnel(host, port))
        except Exception as error:
            log.debug("no tunnel", exc_info=True)
            tell(coming.set_exception, NoTunnel(why_not(error)))

    threading.Thread(target=work, name="tunnel", daemon=True).start()
    return coming


async def end_dead_programs() -> None:
    """Gradio reads the output of a tunnel program that has ended on and on, with a whole core."""
    from gradio.tunneling import CURRENT_TUNNELS

    while True:
        await asyncio.sleep(WATCH_S)
        for tunnel in CURRENT_TUNNELS:
            if tunnel.proc is not None and tunnel.proc.poll() is not None:
                tunnel.kill()


def why_not(error: BaseException) -> str:
    """What kept the tunnel from coming, as a sentence for a person."""
    from gradio.exceptions import ChecksumMismatchError, ShareCertificateWriteError
    from gradio.tunneling import BINARY_FOLDER
    from httpx import HTTPStatusError, TransportError

    chain = list(_chain(error))
    if any(isinstance(e, TransportError) for e in chain):
        return (
            "Gradio's share service cannot be reached from this machine (no network, or a firewall)"
        )
    if any(isinstance(e, HTTPStatusError) for e in chain):
        return "Gradio's tunnel program cannot be downloaded now"
    if isinstance(error, ChecksumMismatchError):
        return f"the tunnel program in {BINARY_FOLDER} is damaged: delete it, then start again"
    if isinstance(error, ShareCertificateWriteError):
        return "the folder .gradio cannot be written here"
    if isinstance(error, OSError):
        return f"the tunnel program cannot be kept or started ({error.strerror or error})"
    if isinstance(error, ValueError | AssertionError):
        return "Gradio's tunnel program was started, but got no address from its server"
    return "Gradio's share service gave no answer that can be used"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
