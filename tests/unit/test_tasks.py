"""gather_or_cancel: no coroutine is left running behind a failure or a cancellation."""

import asyncio

import pytest

from backend.errors import InputError
from backend.tasks import gather_or_cancel


class Sleeper:
    """Counts how its sleeps ended."""

    def __init__(self) -> None:
        self.started = self.cancelled = 0

    async def sleep(self) -> None:
        self.started += 1
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(0)
            self.cancelled += 1
            raise


async def value(number: int, seconds: float = 0.0) -> int:
    await asyncio.sleep(seconds)
    return number


async def fail() -> None:
    await asyncio.sleep(0)
    raise InputError("image_unreadable", "No.")


async def test_results_keep_their_order() -> None:
    assert await gather_or_cancel([value(1, 0.02), value(2), value(3, 0.01)]) == [1, 2, 3]


async def test_nothing_gives_nothing() -> None:
    assert await gather_or_cancel([]) == []


async def test_they_run_at_the_same_time() -> None:
    meet = asyncio.Barrier(3)
    async with asyncio.timeout(5):
        await gather_or_cancel(meet.wait() for _ in range(3))


async def test_a_failure_cancels_the_others_and_waits_for_them() -> None:
    """asyncio.gather alone would raise and leave the others running."""
    sleeper = Sleeper()
    with pytest.raises(InputError):
        await gather_or_cancel([sleeper.sleep(), fail(), sleeper.sleep()])
    assert (sleeper.started, sleeper.cancelled) == (2, 2)


async def test_a_cancellation_cancels_all_and_waits_for_them() -> None:
    sleeper = Sleeper()
    task = asyncio.create_task(gather_or_cancel([sleeper.sleep(), sleeper.sleep()]))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (sleeper.started, sleeper.cancelled) == (2, 2)
