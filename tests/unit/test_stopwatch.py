"""Stopwatch: seconds of each stage, with the time engines took to load left out."""

import pytest

from backend.stopwatch import Stopwatch
from backend.types import Timings


class Clock:
    """A clock that moves when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_whole_answer() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    with watch.stage("fetch"):
        clock.now += 1
    with watch.stage("prepare"):
        clock.now += 2
    with watch.stage("queue"):
        clock.now += 3
    with watch.stage("encode"):
        clock.now += 4
    clock.now += 8
    watch.token()
    clock.now += 16
    watch.token()
    assert watch.timings() == Timings(1, 2, 3, 4, ttft_s=18, decode_s=16, total_s=34)


def test_a_stage_entered_twice_adds_up() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    for _ in range(2):
        with watch.stage("prepare"):
            clock.now += 3
    assert watch.timings().prepare_s == 6


def test_a_pause_counts_nowhere() -> None:
    """The first answer after launch must not look slow because the engines were still loading."""
    clock = Clock()
    watch = Stopwatch(clock)
    with watch.pause():
        clock.now += 50
    clock.now += 1
    watch.token()
    clock.now += 2
    assert watch.timings() == Timings(ttft_s=1, decode_s=2, total_s=3)


def test_a_stage_that_fails_counts() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    with pytest.raises(ValueError, match="no"), watch.stage("fetch"):
        clock.now += 1
        raise ValueError("no")
    assert watch.timings().fetch_s == 1


def test_an_answer_without_a_token() -> None:
    clock = Clock()
    watch = Stopwatch(clock)
    clock.now += 5
    assert watch.timings() == Timings(ttft_s=5, decode_s=0, total_s=5)


def test_stages_that_did_not_happen_are_zero() -> None:
    assert Stopwatch(Clock()).timings() == Timings()
