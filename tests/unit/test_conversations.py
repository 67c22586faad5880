"""The conversations' handlers over fake engines: what is kept, opened, imported and exported."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import pytest

from ui.handlers import Handlers
from ui.session import Session

from .handling import attached, event, send, told, unchanged


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
