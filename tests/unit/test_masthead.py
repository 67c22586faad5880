"""The top of the page: every state of an engine in words, and where a link leads."""

import pytest

from backend.plan import Plan, make_plan
from backend.settings import read_settings
from backend.types import EngineState, EngineStatus, Health, OverallState
from tests.unit.panels import Text
from ui import masthead


def health(
    vision: EngineState, language: EngineState, status: OverallState = "ready", detail: str = ""
) -> Health:
    engines = (
        EngineStatus("vision", vision, detail, (0, 1), 3, 4),
        EngineStatus("language", language, detail, (2,), 0, 4),
    )
    return Health(status, engines, "bifocal-demo", "cpu", "split")


def test_the_header_names_what_runs(plan: Plan) -> None:
    text = Text(masthead.header(plan, "")).text
    for words in (
        "model Bifocal demo model", "target cpu", "topology split",
        "compiled buckets, height x width 364x532, 512x910, 728x1280",
    ):  # fmt: skip
        assert words in text


def test_a_model_without_buckets_says_so() -> None:
    plan = make_plan(read_settings({"target": "cpu", "model": "llava"}))
    assert "compiled buckets, height x width none" in Text(masthead.header(plan, "")).text


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("loading", "loading importing vLLM"),
        ("ready", "ready importing vLLM"),
        ("busy", "busy, 3 of 4"),
        ("restarting", "restarting importing vLLM"),
        ("failed", "failed importing vLLM"),
    ],
)
def test_every_state_is_in_words_with_its_detail(state: EngineState, words: str) -> None:
    assert words in Text(masthead.status(health(state, "ready", detail="importing vLLM"))).text


def test_device_groups_are_named() -> None:
    text = Text(masthead.status(health("ready", "ready"))).text
    assert "group A, devices 0, 1" in text
    assert "group B, device 2" in text


@pytest.mark.parametrize("state", ["loading", "restarting"])
def test_an_engine_that_starts_shows_that_it_goes_on(state: EngineState) -> None:
    assert masthead.status(health(state, "ready")).count("bf-progress") == 1
    assert "bf-progress" not in masthead.status(health("ready", "busy"))


@pytest.mark.parametrize(
    ("vision", "language", "words"),
    [
        ("restarting", "ready", "New pictures wait until the vision encoder is back"),
        ("failed", "ready", "New pictures cannot be looked at"),
        ("ready", "restarting", "Questions wait until the language decoder is back"),
        ("restarting", "restarting", "Questions wait until the language decoder is back"),
    ],
)
def test_degraded_says_what_still_works(
    vision: EngineState, language: EngineState, words: str
) -> None:
    assert words in Text(masthead.status(health(vision, language, "degraded"))).text
    assert words not in Text(masthead.status(health(vision, language, "ready"))).text


def test_a_reason_is_text() -> None:
    html = masthead.status(health("failed", "ready", "failed", detail='<img src=x>"'))
    assert "<img" not in html
    Text(html)


def test_the_link_is_shown_and_can_be_followed() -> None:
    shown = Text(masthead.link("https://abc.gradio.live", ""))
    assert shown.of("a")[0]["href"] == "https://abc.gradio.live"
    assert "https://abc.gradio.live" in shown.text


def test_no_link_says_why_and_that_the_app_goes_on() -> None:
    text = Text(masthead.link("", "no <network>")).text
    assert "no <network>" in text
    assert "goes on here" in text


def test_a_link_that_is_waited_for() -> None:
    assert "Asking" in Text(masthead.link("", "")).text
