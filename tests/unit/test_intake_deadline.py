"""The deadline: what goes on beyond it is ended, or left behind."""

import threading

import pytest

from backend.errors import InputError
from backend.intake.deadline import Deadline


def test_what_comes_in_time_is_returned() -> None:
    assert Deadline(60).run(lambda: 7) == 7


def test_what_goes_wrong_in_time_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        Deadline(60).run(lambda: 1 // 0)


def test_what_comes_too_late_is_left_behind() -> None:
    never = threading.Event()
    with pytest.raises(InputError, match=r"within 0\.05 seconds") as caught:
        Deadline(0.05).run(lambda: never.wait(30))
    never.set()
    assert caught.value.code == "url_failed"


def test_nothing_is_begun_after_it() -> None:
    done: list[int] = []
    with pytest.raises(InputError):
        Deadline(0).run(lambda: done.append(1))
    assert done == []


def test_what_goes_on_is_ended_again_and_again() -> None:
    """A TLS handshake has no socket yet that could be ended; its next state has."""
    times, thrice = iter(range(3)), threading.Event()

    def end() -> None:
        if next(times, 2) == 2:
            thrice.set()
        raise OSError("nothing to end yet")

    with Deadline(0).ending(end):
        assert thrice.wait(10)


def test_what_is_done_in_time_is_not_ended() -> None:
    ended: list[int] = []
    with Deadline(60).ending(lambda: ended.append(1)):
        pass
    assert ended == []
