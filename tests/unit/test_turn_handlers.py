"""The buttons at each turn over fake engines: regenerate, edit, delete and undo."""

from types import SimpleNamespace
from typing import Any

import pytest

from backend.errors import EngineError
from ui.handlers import Handlers
from ui.session import Session

from .fakes import App
from .handling import SETTINGS, event, send, told, unchanged


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
