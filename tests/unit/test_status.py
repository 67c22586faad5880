"""The engines' panels are kept up to date: only what has changed, and often only while it does."""

from types import SimpleNamespace
from typing import Any

import pytest

from backend.types import EngineState, EngineStatus, Health, OverallState
from ui.session import Session
from ui.status import OFTEN_S, SELDOM_S, changes

PAGE: Any = SimpleNamespace(status="status", timer="timer")


def health(state: EngineState, overall: OverallState = "ready") -> Health:
    engines = (EngineStatus("vision", state, "", (0,), 1, 4),)
    return Health(overall, engines, "bifocal-demo", "cpu", "split")


def test_what_the_page_shows_already_is_not_sent_again() -> None:
    session = Session()
    view = changes(PAGE, session, health("ready"), "")
    assert set(view) == {"status", "timer"}
    assert changes(PAGE, session, health("ready"), view["status"]) == {}
    assert set(changes(PAGE, session, health("busy"), view["status"])) == {"status", "timer"}


def test_a_page_that_an_older_message_reached_last_is_put_right() -> None:
    session = Session()
    old = changes(PAGE, session, health("busy"), "")["status"]
    new = changes(PAGE, session, health("ready"), old)["status"]
    assert changes(PAGE, session, health("ready"), old) == {"status": new}


@pytest.mark.parametrize(
    ("state", "overall", "pace"),
    [
        ("ready", "ready", SELDOM_S),
        ("failed", "failed", SELDOM_S),
        ("busy", "ready", OFTEN_S),
        ("loading", "loading", OFTEN_S),
        ("restarting", "degraded", OFTEN_S),
    ],
)
def test_the_pace(state: EngineState, overall: OverallState, pace: float) -> None:
    timer = changes(PAGE, Session(), health(state, overall), "")["timer"]
    assert timer.value == pace


def test_the_visitors_own_answer_is_followed_closely() -> None:
    session = Session()
    changes(PAGE, session, health("ready"), "")
    run: Any = object()
    session.run = run
    assert changes(PAGE, session, health("ready"), "")["timer"].value == OFTEN_S
