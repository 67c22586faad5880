"""Asking over fake engines: what is drawn, put back, left and told."""

from contextlib import aclosing
from pathlib import Path

import pytest

from backend.errors import EngineError
from ui.handlers import Handlers
from ui.session import Exchange, Session

from .fakes import App, picture_file
from .handling import SETTINGS, attached, event, send, told


async def test_a_streamed_answer_changes_values_alone(on: Handlers) -> None:
    """Gradio's client applies a message's changes to the message before, read or not: a property
    that is set once (Stop is visible), and in the next message left alone, may never be seen."""
    views = await send(on, Session(), "one")
    assert len(views) > 2
    values = [value for view in views for value in view.values()]
    assert {type(value) for value in values} <= {str, list, type(None)}


@pytest.mark.parametrize("fault", [EngineError("It broke."), RuntimeError("secret")])
async def test_a_fault_puts_the_question_back(
    on: Handlers, app: App, tmp_path: Path, fault: Exception
) -> None:
    session = Session()
    item = await attached(on, session, tmp_path)
    app.decoder.failure = fault
    last = (await send(on, session, "What is it?"))[-1]
    assert last["prompt"] == "What is it?"
    assert ("It broke." in last["message"]) == isinstance(fault, EngineError)
    assert "secret" not in last["message"]
    assert (session.draft, session.exchanges, session.run) == ([item], [], None)


async def test_a_page_that_goes_away_leaves_what_was_answered(on: Handlers, app: App) -> None:
    session, again = Session(), Session()
    app.decoder.gate.clear()
    views = on.send(session, "one", "", *SETTINGS)
    async with aclosing(views):
        record = None
        async for view in views:
            record = told([view])[0]["keep"] if "library" in view else record
            if session.progress and session.progress.text:
                break
    await on.conversations.open(event(record=record), again)
    assert again.exchanges[0].result
    assert again.exchanges[0].result.text == "A "
    assert again.exchanges[0].result.finish_reason == "abort"


async def test_a_new_conversation_during_an_answer_keeps_the_old_one(
    on: Handlers, app: App
) -> None:
    session = Session()
    app.decoder.gate.clear()
    before = None
    async for _ in on.send(session, "one", "", *SETTINGS):
        if before is None and session.progress and session.progress.text:
            view = await on.conversations.begin(session)
            before = told([view])[0]["before"]
    assert before
    assert before["turns"][0]["answer"]["text"] == "A "
    assert (session.exchanges, session.id) == ([], "")


async def test_another_fit_is_shown_for_pictures_that_were_asked_about(
    on: Handlers, tmp_path: Path
) -> None:
    """A warning beneath an answered picture advises another fit, and nothing was seen of it."""
    session = Session()
    await attached(on, session, tmp_path)
    views = await send(on, session, "one")
    (before,) = (view["buckets"] for view in views[-1:])
    assert ">encoded<" in before
    padded = (await on.refit(session, "pad"))["buckets"]
    assert ">encoded<" not in padded
    assert "filled with a plain border" in padded
    assert session.exchanges[0].attachments[0].placed.placement.fit == "pad"
    assert (await on.refit(session, "stretch"))["buckets"] == before


@pytest.mark.parametrize("left_by", ["forget", "begin"])
async def test_an_answer_that_was_left_draws_what_came_in_its_place_last(
    on: Handlers, app: App, left_by: str
) -> None:
    """A busy browser draws the answer's words after what it was told by the other event."""
    session = Session()
    app.decoder.gate.clear()
    left, views = None, []
    async for view in on.send(session, "one", "", *SETTINGS):
        views.append(view)
        if left is None and session.progress and session.progress.text:
            leave = getattr(on.conversations, left_by)
            left = await (leave(session, "") if left_by == "forget" else leave(session))
    assert left
    view = views[-1]
    assert {"chat", "stage", "timeline", "draft", "editing", "buckets"} <= set(view)
    assert (view["chat"], view["stage"], view["draft"]) == ([], "", "")


async def test_an_example_leaves_what_was_not_yet_sent(on: Handlers, tmp_path: Path) -> None:
    """A click on one took the pictures and the question that were being written."""
    session = Session()
    item = await attached(on, session, tmp_path)
    aside = Exchange("Describe it.", ())
    views = [v async for v in on.asking.ask(session, aside, SETTINGS, anew=True)]
    assert session.draft == [item]
    assert all("prompt" not in view for view in views)
    assert session.exchanges[0].prompt == "Describe it."


async def test_one_image_too_many_is_told_when_it_is_added(on: Handlers, tmp_path: Path) -> None:
    session = Session()
    paths = [picture_file(tmp_path, f"{n}.png", (n, 0, 0)).location for n in range(9)]
    view = await on.add_files(session, paths[:8], "stretch")
    assert view["message"] == ""
    view = await on.add_files(session, paths[8:], "stretch")
    assert "These are 9 images" in view["message"]
    assert "at most 8" in view["message"]
