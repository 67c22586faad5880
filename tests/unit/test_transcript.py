"""The transcript: what is said, what can be done, and that nothing in it becomes markup."""

from typing import Any

from ui.session import Exchange
from ui.transcript import in_a_row, lost_images, transcript

from .panels import Text
from .talks import attachment, exchange

HOSTILE = '"><img src=x onerror=alert(1)>'


def markup(messages: list[dict[str, Any]]) -> Text:
    """All parts that are HTML."""
    parts = [part for message in messages for part in message["content"]]
    return Text("".join(part["value"] for part in parts if part["type"] == "component"))


def acts(messages: list[dict[str, Any]]) -> list[tuple[str | None, str | None]]:
    return [(b["data-act"], b["data-turn"]) for b in markup(messages).of("button")]


def test_questions_and_answers_come_in_turn() -> None:
    shown = transcript([exchange("one", "1"), Exchange("two"), exchange("three", "3")])
    assert [message["role"] for message in shown] == ["user", "assistant"] * 3


def test_each_turn_has_its_buttons_and_the_last_can_be_asked_again() -> None:
    shown = transcript([exchange("one", "1"), exchange("two", "2")])
    assert acts(shown) == [
        ("edit", "0"), ("copy", "0"), ("delete", "0"),
        ("edit", "1"), ("copy", "1"), ("again", "1"), ("delete", "1"),
    ]  # fmt: skip
    labels = [button["aria-label"] for button in markup(shown).of("button")]
    assert len(set(labels)) == len(labels)


def test_a_question_under_way_has_no_buttons_and_those_before_it_stay() -> None:
    """What is drawn already is not drawn anew."""
    first, second = exchange("one", "1", attachment("a.png")), exchange("two", "2")
    before = transcript([first, second])
    shown = transcript([first, second, Exchange("three")], under_way=True)
    assert [message["role"] for message in shown] == ["user", "assistant"] * 2 + ["user"]
    assert shown[:3] == before[:3]
    assert acts(shown) == [act for act in acts(before) if act != ("again", "1")]


def test_copy_has_the_true_text() -> None:
    text = 'a < b && `x` &lt; "quoted" ![spy](http://x/y.png)\n\n$$a<b$$'
    shown = transcript([exchange("?", text)])
    copied = [b["data-text"] for b in markup(shown).of("button") if b["data-act"] == "copy"]
    assert copied == [text]


def test_what_cuts_an_answer_short_is_said() -> None:
    assert "Cut short at 3 tokens" in markup(transcript([exchange("?", "a", end="length")])).text
    assert "Stopped." in markup(transcript([exchange("?", "a", end="abort")])).text
    assert "There is no answer" in markup(transcript([Exchange("?")])).text
    assert markup(transcript([exchange("?", "a")])).text.strip() == ""


def test_pictures_are_numbered_through_the_conversation_and_lost_ones_told() -> None:
    first = exchange("one", "1", attachment("a.png"))
    second = exchange("two", "2", attachment("b.png"), attachment("c.png", gone=True))
    shown = markup(transcript([first, second]))
    assert [image["alt"] for image in shown.of("img")] == [
        "Image 1: a.png", "Image 2: b.png", "Image 3: c.png",
    ]  # fmt: skip
    assert "Image 3 is no longer on the server" in shown.text
    assert [number for number, _ in lost_images([first, second])] == [3]


def test_nothing_from_outside_becomes_markup() -> None:
    shown = transcript([exchange(HOSTILE, HOSTILE, attachment(HOSTILE))])
    assert all("onerror" not in attributes for _, attributes in markup(shown).tags)
    assert all(attributes["src"] != "x" for attributes in markup(shown).of("img"))
    texts = [p["text"] for m in shown for p in m["content"] if p["type"] == "text"]
    assert all("<img" not in text for text in texts)


def test_names_in_a_row() -> None:
    assert in_a_row(["1"]) == "1"
    assert in_a_row(["1", "2"]) == "1 and 2"
    assert in_a_row(["1", "2", "3"]) == "1, 2 and 3"
