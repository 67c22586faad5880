"""Wrong passwords are answered slowly, and few at a time."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATHS: Final = frozenset({"/login", "/login/"})
FREE: Final = 3
"""Wrong passwords that an address may send before it has to wait."""
STEP_S: Final = 1.0
"""Seconds that each further one makes the answer later."""
MOST_S: Final = 8.0
FORGOTTEN_S: Final = 600.0
"""Seconds after its last one when an address starts anew."""
AT_ONCE: Final = 8
"""Attempts of one address that may wait at the same time."""
REMEMBERED: Final = 10_000


class _Attempts:
    """What one address has tried."""

    __slots__ = ("last", "waiting", "wrong")

    def __init__(self) -> None:
        self.wrong = self.waiting = 0
        self.last = 0.0


class LoginBrake:
    """Plain ASGI around Gradio's login, which answers a wrong password with status 400."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self._addresses: OrderedDict[str, _Attempts] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Delay the answer to a wrong password; everything else passes untouched."""
        if scope["type"] != "http" or scope["method"] != "POST" or scope["path"] not in PATHS:
            await self.app(scope, receive, send)
            return
        attempts = self._attempts(scope["client"][0] if scope.get("client") else "")
        if attempts.waiting >= AT_ONCE:
            answer = JSONResponse({"detail": "Too many attempts at once: try again later."}, 429)
            await answer(scope, receive, send)
            return

        async def send_later(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 400:
                attempts.wrong, attempts.last = attempts.wrong + 1, time.monotonic()
                await asyncio.sleep(min(MOST_S, STEP_S * max(0, attempts.wrong - FREE)))
            await send(message)

        attempts.waiting += 1
        try:
            await self.app(scope, receive, send_later)
        finally:
            attempts.waiting -= 1

    def _attempts(self, address: str) -> _Attempts:
        found = self._addresses.pop(address, None)
        if found is None or (not found.waiting and time.monotonic() - found.last > FORGOTTEN_S):
            found = _Attempts()
        self._addresses[address] = found
        if len(self._addresses) > REMEMBERED:
            self._addresses.popitem(last=False)
        return found
