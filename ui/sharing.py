"""The public link of an app that was started with `--share`: password, tunnel, and what is told."""

from __future__ import annotations

import asyncio
import ipaddress
import secrets
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from backend.settings import Settings
from ui.tunnel import NoTunnel, Tunnel, end_dead_programs, gradio_tunnel, open_in_background

USER = "bifocal"
PASSWORD_BYTES = 12

SAY_WITHIN_S = 12.0
"""Seconds after which a link that has not come is told of; the contract is 15."""


@dataclass(frozen=True, slots=True)
class Link:
    """The public address once it is there, else why it is not (yet)."""

    address: str = ""
    problem: str = ""


def with_password(settings: Settings) -> Settings:
    """The same settings; one that is shared without users gets one with a random password."""
    if not settings.share or settings.auth:
        return settings
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    return settings.model_copy(update={"auth": (f"{USER}:{password}",)})


def open_to_others(host: str, settings: Settings) -> str:
    """A warning where other machines may come in without a password, else nothing."""
    if settings.auth or ipaddress.ip_address(host.partition("%")[0]).is_loopback:
        return ""
    return (
        "Warning: anyone who can reach this machine can use Bifocal, as no password is set. "
        "Add --auth user:password, or listen on this machine alone with --host 127.0.0.1."
    )


def local_host(host: str) -> str:
    """Where the tunnel finds a server that listens on `host`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def address(host: str, port: int) -> str:
    """Of a server on this machine."""
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"


def to_stderr(line: str) -> None:
    """The terminal; stdout carries answers alone."""
    print(line, file=sys.stderr, flush=True)


class Sharing:
    """Gets the link and says so once; the page reads `link` whenever it likes."""

    def __init__(
        self, settings: Settings, *, random_password: bool, tunnel: Tunnel = gradio_tunnel
    ) -> None:
        self.link = Link()
        self.settled = False
        self._tunnel = tunnel
        # A password that somebody has chosen is not for the terminal.
        self._login = _login(settings) if random_password else ""

    async def open(self, host: str, port: int, say: Callable[[str], None] = to_stderr) -> None:
        """Until the link is there or cannot come. The app goes on in every case."""
        here = address(local_host(host), port)
        watching = asyncio.create_task(end_dead_programs())
        coming = open_in_background(self._tunnel, local_host(host), port)
        try:
            await asyncio.wait([coming], timeout=SAY_WITHIN_S)
            if not coming.done():
                self.link = Link(problem=f"none has come within {SAY_WITHIN_S:.0f} s")
                say(
                    f"No share link yet: {self.link.problem}; Gradio's share service is slow, or "
                    f"blocked here. Bifocal goes on at {here}{self._once()}; a link that comes "
                    "later is told."
                )
            self.link = Link(address=await coming)
            say(f"Share link: {self.link.address}{self._once()}")
        except NoTunnel as error:
            self.link = Link(problem=str(error))
            say(f"No share link: {error}. Bifocal goes on at {here}{self._once()}.")
        finally:
            self.settled = True
            coming.cancel()
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching

    def _once(self) -> str:
        login, self._login = self._login, ""
        return login


def _login(settings: Settings) -> str:
    user, _, password = settings.auth[0].partition(":")
    return f" (user {user}, password {password})"


def close_tunnels() -> None:
    """End every tunnel program of this process."""
    from gradio.tunneling import CURRENT_TUNNELS

    for tunnel in CURRENT_TUNNELS:
        tunnel.kill()
