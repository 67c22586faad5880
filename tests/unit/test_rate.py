"""So many a minute, evenly; and when to come again is told truly."""

import re

import pytest

from backend import rate
from backend.errors import BusyError
from backend.rate import RateLimit


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def refused(limit: RateLimit, client: str = "a") -> int:
    """Seconds it says to wait."""
    with pytest.raises(BusyError, match="questions a minute") as caught:
        limit.take(client)
    found = re.search(r"in (\d+) second", caught.value.message)
    assert found
    return int(found[1])


def test_a_minutes_worth_at_once_and_then_evenly() -> None:
    clock = Clock()
    limit = RateLimit(6, clock)
    for _ in range(6):
        limit.take("a")
    wait = refused(limit)
    assert wait == 10
    clock.now += wait - 0.5
    assert refused(limit) == 1
    clock.now += 0.5
    limit.take("a")
    refused(limit)


def test_what_is_saved_up_is_bounded() -> None:
    clock = Clock()
    limit = RateLimit(3, clock)
    limit.take("a")
    clock.now += 3600
    for _ in range(3):
        limit.take("a")
    refused(limit)


def test_clients_do_not_share() -> None:
    limit = RateLimit(1, Clock())
    limit.take("a")
    limit.take("b")
    refused(limit, "a")


def test_zero_is_no_limit() -> None:
    limit = RateLimit(0, Clock())
    for _ in range(1000):
        limit.take("a")


def test_it_does_not_remember_everyone_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate, "REMEMBERED", 10)
    limit = RateLimit(1, Clock())
    for number in range(1000):
        limit.take(str(number))
    assert len(limit._left) == 10
    refused(limit, "999")
