"""Rate limits: so many requests a minute, for one session and for one address."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from backend.errors import BusyError

MINUTE_S: Final = 60.0
REMEMBERED: Final = 10_000
"""Clients whose last minute is kept; the one not heard of for longest is forgotten first."""


class RateLimit:
    """A bucket a client that holds a minute's requests and fills evenly."""

    def __init__(self, a_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        """`a_minute` 0 stands for no limit."""
        self._most, self._clock = a_minute, clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, client: str) -> None:
        """Count one request. Raises BusyError, saying when to come again."""
        if not self._most:
            return
        now = self._clock()
        left, at = self._left.pop(client, (float(self._most), now))
        left = min(self._most, left + (now - at) * self._most / MINUTE_S)
        allowed = left >= 1
        self._left[client] = (left - allowed, now)
        if len(self._left) > REMEMBERED:
            self._left.popitem(last=False)
        if not allowed:
            wait = math.ceil((1 - left) * MINUTE_S / self._most)
            raise BusyError(
                f"More than {self._most} questions a minute: try again in {wait} "
                f"second{'s' if wait > 1 else ''}."
            )
