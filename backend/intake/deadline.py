"""Deadline: one moment by which a whole fetch must be done, whatever it is waiting for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import TypeVar

from backend.errors import InputError

AGAIN_S = 0.2
"""Seconds between two attempts to end what goes on beyond the deadline."""

T = TypeVar("T")


class Deadline:
    """So many seconds from now; may be used from several threads."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds until then. Raises InputError (`url_failed`) when it has passed."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise self._too_slow()
        return left

    def run(self, work: Callable[[], T]) -> T:
        """The result of blocking work that knows no limit of time itself, such as a name look-up.

        Work that takes longer is left behind in its thread.
        """
        future: Future[T] = Future()

        def into_future() -> None:
            try:
                future.set_result(work())
            except Exception as error:  # noqa: BLE001 - raised again where it is waited for
                future.set_exception(error)

        left = self.left()
        threading.Thread(target=into_future, daemon=True).start()
        try:
            return future.result(left)
        except TimeoutError:
            self.left()
            raise

    @contextmanager
    def ending(self, end: Callable[[], None]) -> Iterator[None]:
        """Calls `end` when the deadline passes inside, again and again until it is left.

        `requests` knows only a limit for each read, which a server that sends one byte now and then
        never exceeds. Once is not enough: during the TLS handshake there is no socket to end.
        """
        left = threading.Event()

        def watch() -> None:
            wait = max(0.0, self._end - time.monotonic())
            while not left.wait(wait):
                # The other side, or another watch, may have closed it meanwhile.
                with suppress(OSError, RuntimeError, ValueError):
                    end()
                wait = AGAIN_S

        threading.Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            left.set()

    def _too_slow(self) -> InputError:
        return InputError(
            "url_failed", f"The image did not arrive within {self._seconds:g} seconds."
        )
