"""The conversations' handlers over fake engines: what is drawn, kept, put back and refused."""

import json
import shutil
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from backend.errors import EngineError
from ui.components import Page
from ui.handlers import Handlers
from ui.listeners import Listeners
from ui.session import Attachment, Exchange, Session

from .fakes import App, picture_file
from .pictures import RED

SETTINGS = ("", 0, 1, 256, 0, None, "stretch")


@pytest.fixture
async def app(tokenizer: Any) -> AsyncIterator[App]:
    made = await App(tokenizer).started()
    yield made
    await made.backend.shutdown()


@pytest.fixture
def on(app: App) -> Handlers:
    """Handlers whose page has names where components would be."""
    names: Any = {field.name: field.name for field in fields(Page)}
    return Handlers(app.backend, Page(**names), (), Listeners())


def event(**data: Any) -> Any:
    return SimpleNamespace(_data=data)


async def send(on: Handlers, session: Session, prompt: str) -> list[Any]:
    return [view async for view in on.send(session, prompt, "", *SETTINGS)]


def told(views: list[Any]) -> list[Any]:
    """What the browser's script was told."""
    return [json.loads(view["library"]) for view in views if "library" in view]


def unchanged(view: Any) -> bool:
    """Whether a handler changed nothing; an empty answer is a fault to Gradio."""
    return bool(view == {"message": gr.skip()})


async def attached(on: Handlers, session: Session, folder: Path) -> Attachment:
    session.draft.append(await on._measure(picture_file(folder, "red.png", RED), None))
    return session.draft[-1]


async def test_a_question_is_kept_before_and_after_its_answer(on: Handlers) -> None:
    session = Session()
    kept = [message["keep"] for message in told(await send(on, session, "What <is> it?"))]
    assert kept[0]["turns"][0]["answer"] is None
    assert kept[-1]["turns"][0]["answer"]["text"] == "A red circle."
    assert {record["id"] for record in kept} == {session.id}


async def test_no_message_to_the_script_looks_like_a_script(on: Handlers) -> None:
    views = await send(on, Session(), "<script>")
    assert all("<" not in view["library"] for view in views if "library" in view)


async def test_a_kept_conversation_comes_back_whole(on: Handlers, tmp_path: Path) -> None:
    session, again = Session(), Session()
    await attached(on, session, tmp_path)
    record = told(await send(on, session, "What is it?"))[-1]["keep"]
    view = await on.conversations.open(event(record=record, again=True), again)
    assert again.exchanges == session.exchanges
    assert json.loads(view["library"])["current"] == session.id
    await send(on, again, "And now?")
    assert len(again.exchanges) == 2


async def test_a_server_that_forgot_it_shows_what_the_browser_has(
    on: Handlers, tmp_path: Path
) -> None:
    session, again = Session(), Session()
    item = await attached(on, session, tmp_path)
    record = told(await send(on, session, "What is it?"))[-1]["keep"]
    on.conversations._memory.shelf.put(session.id, [])
    await on.conversations.open(event(record=record), again)
    assert again.exchanges[0].attachments[0].gone
    views = await send(on, again, "And now?")
    assert "Image 1 (red.png) is no longer on the server" in views[-1]["message"]
    assert len(again.exchanges) == 1

    view = await on.add_files(again, [item.image.location], "stretch")
    assert again.draft == []
    assert "chat" in view
    await send(on, again, "And now?")
    assert len(again.exchanges) == 2


async def test_images_that_wait_outlive_a_reload(on: Handlers, tmp_path: Path) -> None:
    session, again = Session(), Session()
    assert await on.conversations.note(session) == {"library": gr.skip()}
    item = await attached(on, session, tmp_path)
    current = told([await on.conversations.note(session)])[0]["current"]
    await on.conversations.open(event(record={"id": current}, again=True), again)
    assert again.draft == [item]
    await send(on, again, "What is it?")
    assert again.id == session.id == current


async def test_a_reload_of_what_nobody_knows_says_nothing(on: Handlers) -> None:
    assert unchanged(
        await on.conversations.open(event(record={"id": "0" * 32}, again=True), Session())
    )


async def test_a_picture_deleted_meanwhile_is_told(on: Handlers, tmp_path: Path) -> None:
    session = Session()
    await attached(on, session, tmp_path)
    await send(on, session, "What is it?")
    shutil.rmtree(tmp_path)
    views = await send(on, session, "And now?")
    assert "Image 1 (red.png) is no longer on the server" in views[-1]["message"]


async def test_a_page_that_comes_late_does_not_undo_a_question(on: Handlers) -> None:
    session = Session()
    record = told(await send(on, session, "one"))[-1]["keep"]
    other = Session()
    await send(on, other, "two")
    assert unchanged(await on.conversations.open(event(record=record, again=True), other))
    assert [exchange.prompt for exchange in other.exchanges] == ["two"]


@pytest.mark.parametrize("data", [None, {}, {"record": 5}, {"record": {"id": "../x"}}])
async def test_what_cannot_be_opened_is_said_and_changes_nothing(on: Handlers, data: Any) -> None:
    session = Session()
    await send(on, session, "one")
    view = await on.conversations.open(SimpleNamespace(_data=data), session)
    assert "cannot be read" in view["message"]
    assert len(session.exchanges) == 1


async def test_an_import_is_a_conversation_of_its_own(on: Handlers) -> None:
    session, other = Session(), Session()
    await send(on, session, "What is it?")
    file = told([await on.conversations.write(event(kind="json", title="Mine"), session)])[0]
    assert file["file"]["name"] == "bifocal-mine.json"
    view = await on.conversations.take_in(event(text=file["file"]["text"]), other)
    message = json.loads(view["library"])
    assert (message["title"], message["current"]) == ("Mine (imported)", other.id)
    assert other.id not in ("", session.id)


@pytest.mark.parametrize("text", ["", "x", "{}", 5])
async def test_a_bad_import_is_said(on: Handlers, text: Any) -> None:
    view = await on.conversations.take_in(event(text=text), Session())
    assert "cannot be read" in view["message"]


async def test_nothing_is_exported_of_nothing(on: Handlers) -> None:
    view = await on.conversations.write(event(kind="json"), Session())
    assert "nothing to export" in view["message"]
    assert unchanged(await on.conversations.write(event(kind="exe"), Session()))


async def test_regenerate_asks_the_last_question_again(on: Handlers, app: App) -> None:
    session = Session()
    await send(on, session, "one")
    app.decoder.words = ("A ", "blue ", "square.")
    views = [v async for v in on.conversations.again(event(index=0), session, *SETTINGS)]
    assert [e.result.text for e in session.exchanges if e.result] == ["A blue square."]
    assert all("prompt" not in view for view in views)


async def test_regenerate_says_when_the_answer_is_the_same(on: Handlers) -> None:
    session = Session()
    await send(on, session, "one")
    views = [v async for v in on.conversations.again(event(index=0), session, *SETTINGS)]
    assert "same as before" in views[-1]["message"]


async def test_regenerate_in_vain_leaves_the_answer(on: Handlers, app: App) -> None:
    session = Session()
    await send(on, session, "one")
    app.decoder.failure = EngineError("It broke.")
    views = [v async for v in on.conversations.again(event(index=0), session, *SETTINGS)]
    assert "It broke." in views[-1]["message"]
    assert [e.result.text for e in session.exchanges if e.result] == ["A red circle."]


@pytest.mark.parametrize("index", [-1, 1, 99, "0", None, True, 0.0])
async def test_a_turn_that_is_not_there_does_nothing(on: Handlers, index: Any) -> None:
    session = Session()
    await send(on, session, "one")
    assert [v async for v in on.conversations.again(event(index=index), session, *SETTINGS)] == []
    assert unchanged(await on.conversations.edit(event(index=index), session, ""))
    assert unchanged(await on.conversations.delete(event(index=index), session))


async def test_a_streamed_answer_changes_values_alone(on: Handlers) -> None:
    """Gradio's client applies a message's changes to the message before, read or not: a property
    that is set once (Stop is visible), and in the next message left alone, may never be seen."""
    views = await send(on, Session(), "one")
    assert len(views) > 2
    values = [value for view in views for value in view.values()]
    assert {type(value) for value in values} <= {str, list, type(None)}


@pytest.mark.parametrize("data", [None, True, 1.5, "text", [1], {}, {"index": None, "from": "0"}])
async def test_events_with_data_of_no_button_do_nothing(on: Handlers, data: Any) -> None:
    session, event_ = Session(), SimpleNamespace(_data=data)
    await on.move(event_, session)
    await on.remove(event_, session)
    assert [view async for view in on.pick(event_, session, *SETTINGS)] == []
    assert (session.draft, session.exchanges) == ([], [])


async def test_an_edit_continues_from_there(on: Handlers) -> None:
    session = Session()
    await send(on, session, "one")
    await send(on, session, "two")
    view = await on.conversations.edit(event(index=0), session, "half typed")
    assert view["prompt"] == "one"
    assert "Editing question 1" in view["editing"]
    await send(on, session, "uno")
    assert [exchange.prompt for exchange in session.exchanges] == ["uno"]


async def test_an_edit_can_be_cancelled(on: Handlers) -> None:
    session = Session()
    await send(on, session, "one")
    await on.conversations.edit(event(index=0), session, "half typed")
    view = await on.conversations.cancel(session)
    assert (view["prompt"], view["editing"]) == ("half typed", "")
    assert unchanged(await on.conversations.cancel(session))


async def test_a_deleted_turn_can_be_brought_back(on: Handlers) -> None:
    session = Session()
    for question in ("one", "two", "three"):
        await send(on, session, question)
    view = await on.conversations.delete(event(index=1), session)
    assert 'data-act="undelete"' in view["message"]
    view = await on.conversations.undelete(session)
    assert [exchange.prompt for exchange in session.exchanges] == ["one", "two", "three"]
    assert told([view])[0]["keep"]["turns"][1]["prompt"] == "two"
    assert unchanged(await on.conversations.undelete(session))


@pytest.mark.parametrize("then", ["ask", "begin", "clear"])
async def test_what_is_deleted_does_not_come_back_elsewhere(on: Handlers, then: str) -> None:
    session = Session()
    await send(on, session, "one")
    await on.conversations.delete(event(index=0), session)
    if then == "ask":
        await send(on, session, "two")
    else:
        if then == "begin":
            await on.conversations.begin(session)
        else:
            await on.conversations.forget(session, "")
    assert unchanged(await on.conversations.undelete(session))


async def test_deleting_the_only_turn_forgets_the_conversation(on: Handlers) -> None:
    session = Session()
    await send(on, session, "one")
    identity = session.id
    view = await on.conversations.delete(event(index=0), session)
    assert told([view])[0]["forget"] == identity


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
