"""Conversations to records and back; records that somebody made up are told in words."""

import json
from typing import Any

import pytest

from backend.errors import InputError
from backend.types import Usage
from ui.record import (
    MOST_CHARACTERS,
    as_record,
    parse,
    read_identity,
    read_record,
    short_title,
    title_of,
)
from ui.session import Exchange

from .talks import answer, attachment

ID = "0123456789abcdef" * 2


def record(**changes: Any) -> Any:
    exchanges = [
        Exchange("What is <it>?", (attachment("circle.png"),), answer("A circle.", "length")),
        Exchange("And now?"),
    ]
    return {**as_record(ID, "My title", "The model", exchanges), **changes}


def first_turn(**changes: Any) -> Any:
    made = record()
    made["turns"][0].update(changes)
    return made


def first_image(**changes: Any) -> Any:
    made = record()
    made["turns"][0]["images"][0].update(changes)
    return made


def test_what_is_kept_comes_back() -> None:
    title, exchanges = parse(json.dumps(record()))
    assert title == "My title"
    assert [exchange.prompt for exchange in exchanges] == ["What is <it>?", "And now?"]
    result = exchanges[0].result
    assert result
    assert (result.text, result.finish_reason, result.model) == (
        "A circle.", "length", "The model",
    )  # fmt: skip
    assert result.usage == Usage(20, 12, 3)
    assert exchanges[1].result is None
    item = exchanges[0].attachments[0]
    assert (item.placed.source, item.thumbnail) == (
        "circle.png",
        attachment("circle.png").thumbnail,
    )
    assert item.placed.sha256 == attachment("circle.png").placed.sha256


def test_a_record_says_nothing_of_where_its_pictures_are() -> None:
    item = attachment("circle.png")
    assert item.image.location
    exchanges = [Exchange("?", (item,))]
    images = as_record(ID, "", "", exchanges)["turns"][0]["images"]
    assert set(images[0]) == {"name", "width", "height", "sha256", "thumbnail"}


def test_no_record_can_name_a_file_or_an_address_to_be_read() -> None:
    made = first_image(
        location="/etc/passwd", path="/etc/passwd", url="http://10.0.0.1/", origin="path",
        name="/etc/passwd", image={"location": "/etc/passwd", "origin": "path"},
    )  # fmt: skip
    item = read_record(made)[1][0].attachments[0]
    assert item.gone
    assert item.image.location == ""
    assert item.image.origin == "upload"


@pytest.mark.parametrize(
    "thumbnail",
    [
        "http://10.0.0.1/spy.png",
        "data:image/svg+xml;base64,AAAA",
        'data:image/webp;base64,AAAA" onerror="alert(1)',
        "data:image/webp;base64," + "A" * 300_000,
        5,
        None,
    ],
)
def test_a_thumbnail_that_is_not_ours_is_left_out(thumbnail: Any) -> None:
    assert read_record(first_image(thumbnail=thumbnail))[1][0].attachments[0].thumbnail == ""


@pytest.mark.parametrize(
    ("made", "said"),
    [
        ([], "not a conversation"),
        ({"format": "another"}, "not a conversation"),
        (record(version=2), "another version"),
        (record(turns={}), "turns are not a list"),
        (record(turns=[]), "nothing in it"),
        (record(turns=[5]), "turn 1 is not an object"),
        (record(turns=[{"prompt": "x"}] * 501), "more than 500"),
        (record(title=5), "its title is not text"),
        (first_turn(prompt=None), "prompt of turn 1 is not text"),
        (first_turn(images="x"), "images of turn 1 are not a list"),
        (first_turn(images=[{}] * 201), "more than 200"),
        (first_turn(images=["/etc/passwd"]), "image of turn 1 is not an object"),
        (first_turn(answer="x"), "answer of turn 1 is not an object"),
        (first_turn(answer={"text": 5}), "answer of turn 1 is not text"),
    ],
)
def test_a_bad_record_is_told(made: Any, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        read_record(made)
    assert error.value.code == "bad_conversation"
    assert "Export" in error.value.message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"format": NaN}', "not a conversation"),
        (" " * (MOST_CHARACTERS + 1), "larger than"),
    ],
)
def test_a_bad_file_is_told(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse(text)


@pytest.mark.parametrize("count", [-1, 1.5, True, "9", 10**12, None])
def test_numbers_that_cannot_be_are_0(count: Any) -> None:
    result = read_record(first_turn(answer={"text": "x", "completion_tokens": count}))[1][0].result
    assert result
    assert result.usage.completion_tokens == 0


def test_half_a_surrogate_pair_does_no_harm() -> None:
    exchanges = parse(json.dumps(first_turn(prompt="\ud800!")))[1]
    assert exchanges[0].prompt.encode("utf-8") == b"?!"


@pytest.mark.parametrize("found", ["", "x" * 32, ID + "0", ID.upper() + "\n", 5, None])
def test_an_id_that_is_not_ours_is_none(found: Any) -> None:
    assert read_identity(record(id=found)) == ""


def test_an_id_is_read() -> None:
    assert read_identity(record()) == ID


def test_titles() -> None:
    assert title_of([Exchange("  What\n is this? ")]) == "What is this?"
    assert title_of([Exchange(" \n ")]) == "Conversation"
    long = short_title("word " * 40)
    assert len(long) <= 60
    assert long.endswith("…")
