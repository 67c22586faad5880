"""Exported files: Markdown to read, JSON to import again."""

import pytest

from backend.types import Usage
from ui.export import as_file, file_stem
from ui.record import parse
from ui.session import Exchange

from .talks import attachment, exchange

TALK = [
    exchange("What is it?", "A `<circle>`.", attachment("ci_rcle.png"), end="length"),
    exchange("And now?", "", attachment("b.png")),
]


def test_markdown_has_the_words_as_they_were_written() -> None:
    file = as_file("markdown", "My talk", "The model", TALK)
    assert (file["name"], file["type"]) == ("bifocal-my-talk.md", "text/markdown")
    assert file["text"] == (
        "# My talk\n\n*Asked of The model in Bifocal*\n\n"
        "## Question 1\n\n- Image 1: ci\\_rcle.png, 364 x 532 pixels (height x width)\n\n"
        "What is it?\n\n"
        "## Answer 1\n\nA `<circle>`.\n\n*(Cut short at 3 tokens)*\n\n"
        "## Question 2\n\n- Image 2: b.png, 364 x 532 pixels (height x width)\n\nAnd now?\n\n"
        "## Answer 2\n\n*(no answer)*\n"
    )


def test_json_can_be_imported_again_and_tells_no_secret() -> None:
    file = as_file("json", "My talk", "The model", TALK)
    assert file["name"] == "bifocal-my-talk.json"
    assert TALK[0].attachments[0].image.location not in file["text"]
    title, exchanges = parse(file["text"])
    assert title == "My talk"
    assert [e.prompt for e in exchanges] == ["What is it?", "And now?"]
    assert exchanges[0].result
    assert exchanges[0].result.usage == Usage(20, 12, 3)


def test_json_has_no_id() -> None:
    assert '"id": ""' in as_file("json", "x", "y", [Exchange("?")])["text"]


@pytest.mark.parametrize(
    ("title", "stem"),
    [
        ("What is it?", "bifocal-what-is-it"),
        ("../../etc/passwd", "bifocal-etc-passwd"),
        ("", "bifocal-conversation"),
        ("Ça va ?", "bifocal-ça-va"),
    ],
)
def test_a_title_becomes_a_harmless_name(title: str, stem: str) -> None:
    assert file_stem(title) == stem
