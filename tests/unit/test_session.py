"""A tab's conversation: asking, asking again, editing, deleting, and putting all of it back."""

from pathlib import Path
from typing import Any

import pytest

from ui.session import Session, turns

from .talks import answer, attachment, exchange


class Run:
    """As much of an answer in flight as a session sees of it."""

    def __init__(self) -> None:
        self.stopped = False

    def stop(self) -> None:
        self.stopped = True


class Progress:
    """An answer that has got so far."""

    def __init__(self, text: str) -> None:
        self.text = text

    def result(self, end: Any = None) -> Any:
        return answer(self.text, end)


def run() -> Any:
    return Run()


@pytest.fixture
def session() -> Session:
    """Two questions with answers, and a picture in the draft."""
    made = Session()
    made.open("id", [exchange("one", "1", attachment("a.png")), exchange("two", "2")])
    made.draft = [attachment("draft.png")]
    return made


def prompts(session: Session) -> list[str]:
    return [exchange.prompt for exchange in session.exchanges]


def names(session: Session) -> list[str]:
    return [item.placed.source for item in session.draft]


def test_a_question_takes_the_draft_with_it(session: Session) -> None:
    session.ask(exchange("three", "", *session.draft), run(), session.place)
    assert prompts(session) == ["one", "two", "three"]
    assert names(session) == []


def test_the_same_picture_twice_stays_where_it_was_asked_about(session: Session) -> None:
    session.ask(exchange("three", "", *session.draft), run(), session.place)
    session.draft = [attachment("late.png")]
    session.put_back()
    assert names(session) == ["draft.png", "late.png"]


def test_put_back_gives_the_question_unless_another_was_typed(session: Session) -> None:
    session.ask(exchange("three"), run(), session.place)
    assert session.put_back() == "three"
    session.ask(exchange("three"), run(), session.place)
    session.typed = "four"
    assert session.put_back() == "four"
    assert prompts(session) == ["one", "two"]


def test_asking_again_replaces_the_answer(session: Session) -> None:
    session.ask(exchange("two"), run(), 1)
    assert session.exchanges[1].result is None
    assert not session.finish(answer("another"))
    assert [e.result.text for e in session.exchanges if e.result] == ["1", "another"]
    assert names(session) == ["draft.png"]


def test_asking_again_may_get_the_same_answer(session: Session) -> None:
    session.ask(exchange("two"), run(), 1)
    assert session.finish(answer("2"))


def test_a_new_question_is_never_answered_the_same(session: Session) -> None:
    session.ask(exchange("three"), run(), 2)
    assert not session.finish(answer("2"))


def test_asking_again_in_vain_gives_the_old_answer_back(session: Session) -> None:
    session.ask(exchange("two"), run(), 1)
    assert session.put_back() is None
    assert session.exchanges[1].result == answer("2")
    assert names(session) == ["draft.png"]


def test_an_edit_brings_the_question_back_with_its_pictures(session: Session) -> None:
    assert session.edit(0, "typed") == "one"
    assert (session.place, names(session)) == (0, ["a.png"])
    assert [item.placed.source for item in session.images()] == ["a.png"]
    assert prompts(session) == ["one", "two"]


def test_an_edit_can_be_left_off(session: Session) -> None:
    session.edit(1, "typed")
    session.edit(0, "two")
    assert session.stop_editing()
    assert (session.place, names(session), session.unsent) == (2, ["draft.png"], "typed")
    assert not session.stop_editing()


def test_an_edited_question_replaces_what_came_after_it(session: Session) -> None:
    session.edit(0, "")
    session.ask(exchange("uno", "", *session.draft), run(), session.place)
    assert prompts(session) == ["uno"]
    assert (session.editing, names(session)) == (None, ["draft.png"])
    assert not session.finish(answer("1"))


def test_an_edit_in_vain_is_an_edit_again(session: Session) -> None:
    session.edit(0, "")
    session.ask(exchange("uno", "", *session.draft), run(), session.place)
    assert session.put_back() == "uno"
    assert prompts(session) == ["one", "two"]
    assert (session.editing, names(session)) == (0, ["a.png"])
    session.stop_editing()
    assert names(session) == ["draft.png"]


def test_a_turn_can_be_deleted_during_an_edit(session: Session) -> None:
    session.edit(1, "")
    session.delete(0)
    assert (prompts(session), session.editing, names(session)) == (["two"], None, ["draft.png"])


def test_leaving_keeps_what_there_is_of_an_answer(session: Session) -> None:
    flight = run()
    session.ask(exchange("three"), flight, 2)
    session.progress = Progress("so f")  # type: ignore[assignment]
    session.open("other", [])
    assert flight.stopped
    assert (session.id, session.exchanges, session.run) == ("other", [], None)
    assert session.answered == 0


def test_answers_that_came_to_their_end_are_counted(session: Session) -> None:
    for number in (1, 2):
        session.ask(exchange("again"), run(), 2)
        session.finish(answer("yes", "stop"))
        assert session.answered == number


def test_leaving_before_the_first_word_keeps_the_question(session: Session) -> None:
    session.ask(exchange("three"), run(), 2)
    session.leave()
    assert prompts(session)[2:] == ["three"]
    assert session.exchanges[2].result is None


def test_an_id_is_made_with_the_first_question_and_stays() -> None:
    session, other = Session(), Session()
    for made in (session, other):
        made.ask(exchange("?"), run(), 0)
    first = session.id
    session.ask(exchange("!"), run(), 1)
    assert session.id == first
    assert len(first) == 32
    assert other.id != first


def test_a_picture_whose_file_is_gone_is_told(tmp_path: Path) -> None:
    there = tmp_path / "there.png"
    there.touch()
    asked = exchange("?", "!", attachment(path=str(there)), attachment(path=str(tmp_path / "no")))
    assert [item.gone for item in asked.checked().attachments] == [False, True]


def test_a_lost_picture_comes_back_when_it_is_given_again(session: Session) -> None:
    session.open("id", [exchange("one", "1", attachment("a.png", gone=True))])
    session.attach(attachment("b.png"))
    assert not session.restored
    session.attach(attachment("a.png"))
    assert session.restored
    assert not session.exchanges[0].attachments[0].gone
    assert names(session) == ["draft.png", "b.png"]


def test_a_picture_that_is_not_lost_may_be_asked_about_twice(session: Session) -> None:
    session.attach(attachment("a.png"))
    assert names(session) == ["draft.png", "a.png"]


def test_a_lost_picture_of_an_edit_comes_back(session: Session) -> None:
    session.open("id", [exchange("one", "1", attachment("a.png", gone=True))])
    session.edit(0, "")
    session.attach(attachment("a.png"))
    assert [(item.placed.source, item.gone) for item in session.draft] == [("a.png", False)]


def test_what_was_cleared_comes_back_with_its_draft(session: Session) -> None:
    session.clear("half typed")
    assert (session.exchanges, session.draft, session.id) == ([], [], "")
    assert session.unclear("another") == ""
    assert session.unclear("") == ""
    session.open("id", [exchange("one", "1")])
    assert session.unclear("id") == "half typed"
    assert names(session)[-1] == "draft.png"
    assert session.unclear("id") == ""


def test_what_was_added_since_is_not_lost_for_what_was_cleared(session: Session) -> None:
    session.clear("half typed")
    assert session.unclear("id", "typed since") == ""
    session.attach(attachment("new.png"))
    assert session.unclear("id") == ""
    assert names(session) == ["new.png"]


def test_questions_without_an_answer_are_not_sent() -> None:
    earlier = [exchange("one", "1"), exchange("two")]
    sent = turns(earlier, exchange("three"), "Be brief.")
    assert [(turn.role, turn.text) for turn in sent] == [
        ("system", "Be brief."), ("user", "one"), ("assistant", "1"), ("user", "three"),
    ]  # fmt: skip
