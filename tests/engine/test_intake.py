"""The whole corpus of files on live engines: each is answered or refused, and they stay up."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from backend.errors import InputError
from backend.service import Bifocal
from backend.types import ImageInput
from tests.engine.asking import ask, question, saved
from tests.unit.corpus import SEEN, Seen
from tests.unit.corpus_refused import REFUSED, Refused
from tests.unit.pictures import saved as file_of

pytestmark = pytest.mark.filterwarnings("ignore:::PIL")


def circle() -> Image.Image:
    """A red circle at the bottom right, on white."""
    picture = Image.new("RGB", (900, 600), "white")
    ImageDraw.Draw(picture).ellipse((680, 420, 830, 570), fill=(225, 20, 30))
    return picture


def upload(folder: Path, data: bytes) -> ImageInput:
    """Named as something that most of the corpus is not."""
    (folder / "cat.png").write_bytes(data)
    return ImageInput(str(folder / "cat.png"), "upload", "cat.png")


def in_words(picture: Image.Image) -> ImageInput:
    """The picture as a data URL."""
    body = base64.b64encode(file_of(picture)).decode()
    return ImageInput(f"data:image/png;base64,{body}", "url")


@pytest.mark.parametrize("case", SEEN, ids=lambda case: case.name)
async def test_it_is_answered(split: Bifocal, tmp_path: Path, case: Seen) -> None:
    result = await ask(split, question("Describe.", [upload(tmp_path, case.make())], 1))
    (image,) = result.images
    assert (image.width, image.height) == case.size
    assert len(image.notes) == bool(case.note)
    assert result.usage.image_tokens == image.placement.bucket.tokens
    assert result.usage.completion_tokens == 1


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
async def test_it_is_refused(split: Bifocal, tmp_path: Path, case: Refused) -> None:
    with pytest.raises(InputError) as caught:
        await ask(split, question("Describe.", [upload(tmp_path, case.make())], 1))
    assert (caught.value.code, case.words in caught.value.message) == (case.code, True)
    assert str(tmp_path) not in caught.value.message


@pytest.mark.parametrize("kind", ["png", "heic", "tif", "jpg", "data"])
async def test_after_all_that_a_plain_question_is_answered_rightly(
    split: Bifocal, tmp_path: Path, kind: str
) -> None:
    image = in_words(circle()) if kind == "data" else saved(tmp_path, f"circle.{kind}", circle())
    result = await ask(split, question("Where is the circle?", [image]))
    assert result.text == "The circle is at the bottom right."
    assert result.images[0].source == (
        "data:image/png;base64,…" if kind == "data" else f"circle.{kind}"
    )
    assert split.health().status == "ready"


async def test_a_large_photo_is_seen_as_its_small_copy_is(split: Bifocal, tmp_path: Path) -> None:
    """12 megapixels, which are decoded at a half, and an answer that hangs on what is in them."""
    large = circle().resize((4000, 3000))
    result = await ask(split, question("What color is the circle?", [
        saved(tmp_path, "large.jpg", large)]))  # fmt: skip
    assert (result.images[0].width, result.images[0].height) == (4000, 3000)
    assert result.text == "The circle is red."
