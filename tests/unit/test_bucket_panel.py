"""The panel as HTML: what is shown of an image, to people who see it and to those who do not."""

from dataclasses import replace
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.buckets import choose, keep_size
from backend.placement import Fit, PlacedImage
from backend.resolution import OwnResolution
from backend.service import Bifocal
from backend.shared_bucket import share_bucket
from backend.types import ImageInput, Result, Timings, Usage
from ui.buckets import panel
from ui.paint import Painter
from ui.session import Attachment, Exchange, Session

from .fakes import App, picture_file
from .panels import BUCKETS, QWEN2_5, Text, chosen, drawn, item
from .pictures import RED


def test_an_empty_panel_says_what_it_is_for() -> None:
    assert "Add a picture" in drawn([]).text


def test_tokens_of_the_context() -> None:
    """1,196 and 247 tokens."""
    text = drawn([chosen(532, 364, name="a"), chosen(364, 532, name="b")]).text
    assert "2 images take 1,443 of 16,384 tokens of the context." in text
    assert "1,196 of 16,384" in text
    assert "247 of 16,384" in text
    assert "1 image takes 1,196 of 4,096 tokens" in drawn([chosen(532, 364)], 4096).text


def test_more_than_the_context_is_said() -> None:
    items = [chosen(532, 364, name=name) for name in "abcd"]
    assert "Together they do not fit" in drawn(items, 4096).text
    assert "Together they do not fit" not in drawn(items[:3], 4096).text


def test_unknown_tokens_are_said_to_be_unknown() -> None:
    page = drawn([item(OwnResolution().place(480, 640), 480, 640)])
    assert "How many tokens the images take is known once asked." in page.text
    assert "Visual tokens known once asked" in page.text
    assert " 0 " not in page.text
    assert "own size" in page.text
    assert "Shape" not in page.text


def test_a_size_without_buckets() -> None:
    page = drawn([item(keep_size(480, 640, QWEN2_5), 480, 640)])
    assert "Becomes 476 x 644" in page.text
    assert not page.of("details")


def test_a_warning_is_a_list_item_and_flags_are_code() -> None:
    page = drawn([chosen(3024, 4032)])
    assert [tag.get("aria-label") for tag in page.of("ul")] == ["Warnings"]
    assert "stretched to 1.3 times its width: proportions may be misread" in page.text
    assert "4.2 in height and 3.1 in width: small lettering may get lost" in page.text
    assert len(page.of("code")) == 2


@pytest.mark.parametrize(
    ("height", "width", "fit", "words"),
    [
        (364, 532, "stretch", "Shape kept exactly."),
        (1080, 1920, "stretch", "Shape kept."),
        (350, 540, "stretch", "Shape nearly kept: stretched 6 % taller."),
        (532, 364, "pad", "Shape kept; the rest of the bucket is filled"),
    ],
)
def test_a_shape_that_needs_no_warning(height: int, width: int, fit: Fit, words: str) -> None:
    assert words in drawn([chosen(height, width, fit)]).text


def test_a_shape_that_is_warned_of_is_not_told_twice() -> None:
    assert "Shape" not in drawn([chosen(532, 364)]).text


def test_every_candidate_with_its_cost() -> None:
    """247, 576 and 1196 of 16384 are 1.5, 3.5 and 7.3 %."""
    page = drawn([chosen(532, 364)])
    for row in (
        "364 x 532 247 1.5 % 90,636 103,012",
        "504 x 896 576 3.5 % 173,376 278,208",
        "728 x 1288 chosen 1,196 7.3 % 193,648 744,016",
    ):
        assert row in page.text
    assert page.text.count("chosen") == 1
    assert "What each bucket would keep of image 1, and what it would cost" in page.text


def test_a_shared_bucket_is_said_to_be_shared() -> None:
    sizes = [(364, 532), (532, 364)]
    shared = share_bucket(sizes, [choose(*size, BUCKETS, QWEN2_5, "stretch") for size in sizes])
    text = drawn([item(p, *size) for p, size in zip(shared, sizes, strict=True)]).text
    assert text.count("All images of a request share one bucket on QAIC") == 2


def test_a_switch_has_a_name_and_a_lasting_key() -> None:
    pictures = [chosen(364, 532, name="a"), chosen(532, 364, name="b"), chosen(364, 532, name="a")]
    page = drawn(pictures)
    switches = page.of("input")
    assert [s["aria-label"] for s in switches] == [
        f"Show what the encoder sees of image {number}" for number in (1, 2, 3)
    ]
    keys = [s["data-keep"] for s in switches] + [d["data-keep"] for d in page.of("details")]
    assert len(set(keys)) == 6
    answered = [replace(p.placed, cached=True) for p in pictures]
    again = drawn(pictures, answered=answered)
    assert [s["data-keep"] for s in again.of("input")] == keys[:3]


def test_badges() -> None:
    given = chosen(364, 532)
    fresh, cached = given.placed, replace(given.placed, cached=True)

    def badge(*answered: PlacedImage, under_way: bool = False) -> str:
        html = panel([given], 16384, answered, under_way)
        return html.partition('<span class="bf-badge')[2].partition("</span>")[0].partition(">")[2]

    assert badge() == ""
    assert badge(fresh) == "encoded"
    assert badge(cached) == "embedding reused"
    assert badge(cached, under_way=True) == "embedding reused"
    assert badge(fresh, under_way=True) == ""


def test_names_and_notes_are_escaped() -> None:
    given = chosen(364, 532, name='<b onmouseover="x">.png')
    noted = replace(given, placed=replace(given.placed, notes=("<i>note</i>",)))
    html = panel([noted], 16384)
    assert "<b onmouseover" not in html
    assert "<i>note" not in html
    assert "<i>note</i>" in unescape(html)


@pytest.mark.parametrize(("target", "tokens"), [("qaic", "2,392"), ("cpu", "1,443")])
async def test_a_new_image_changes_the_bucket_of_those_that_were_answered(
    tokenizer: Any, tmp_path: Path, target: str, tokens: str
) -> None:
    """Twice 1,196 where all share one bucket, 247 and 1,196 elsewhere."""
    backend = App(tokenizer, target=target).backend
    landscape = await attached(backend, picture_file(tmp_path, "a.png", RED, (532, 364)))
    portrait = await attached(backend, picture_file(tmp_path, "b.png", RED, (364, 532)))
    session = Session()
    session.exchanges.append(Exchange("What is it?", (landscape,)))
    page: Any = SimpleNamespace(draft="draft", buckets="buckets", editing="editing")
    session.exchanges[0] = replace(session.exchanges[0], result=answer_about(landscape))
    painter = Painter(page, backend)
    assert "247 of" in Text(painter.draft(session)["buckets"]).text
    session.draft.append(portrait)
    assert f"2 images take {tokens} of" in Text(painter.draft(session)["buckets"]).text


async def attached(backend: Bifocal, image: ImageInput) -> Attachment:
    return Attachment(image, await backend.place(image), "")


def answer_about(item: Attachment) -> Result:
    return Result(
        "Red.", "stop", "model", "cpu", "split", "chat", (item.placed,), Usage(), Timings()
    )
