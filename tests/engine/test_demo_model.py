"""The bundled model really answers: pictures drawn here, and fresh scenes of its evaluation."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from assets.demo_model.training.cases import Case, same_text, world_cases
from assets.demo_model.training.evaluate import AT_ONCE, Asker
from assets.demo_model.training.layout import BUCKETS
from backend.service import Bifocal
from tests.engine.asking import ask, question, saved

CASES = 6
"""Scenes a bucket; each gives one case of every kind of question it allows."""

LEAST_RIGHT = 0.95


def two_shapes() -> Image.Image:
    """A blue square at the top left and a red circle at the bottom right, on white."""
    picture = Image.new("RGB", (900, 600), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((70, 40, 210, 180), fill=(30, 60, 220))
    draw.ellipse((680, 420, 830, 570), fill=(225, 20, 30))
    return picture


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What color is the circle?", "The circle is red."),
        ("What color is the square?", "The square is blue."),
        ("What shape is red?", "The red shape is a circle."),
        ("How many shapes are there?", "There are 2 shapes."),
        ("How many stars are there?", "There are no stars."),
        ("Where is the square?", "The square is at the top left."),
        ("Where is the circle?", "The circle is at the bottom right."),
        ("Is there a green circle?", "No, there is no green circle."),
        ("What color is the background?", "The background is white."),
        (
            "Describe this image.",
            "A large blue square at the top left and a large red circle at the bottom right, "
            "on a white background.",
        ),
    ],
)
async def test_it_tells_colour_shape_count_and_position(
    split: Bifocal, tmp_path: Path, asked: str, expected: str
) -> None:
    image = saved(tmp_path, "two shapes.png", two_shapes())
    assert (await ask(split, question(asked, [image]))).text == expected


async def test_two_pictures_get_two_answers_in_their_order(split: Bifocal, tmp_path: Path) -> None:
    """Nothing but the picture differs: an answer that ignored it would be the same."""
    mirrored = two_shapes().transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    pictures = [
        saved(tmp_path, "a.png", two_shapes()),
        saved(tmp_path, "b.png", mirrored),
    ]
    first, second = [
        (await ask(split, question("Where is the circle?", [picture]))).text for picture in pictures
    ]
    assert (first, second) == (
        "The circle is at the bottom right.",
        "The circle is at the bottom left.",
    )
    both = await ask(split, question("What is the content of each image?", pictures, 120))
    one, two = both.text.splitlines()
    assert one.startswith("Image 1: ") and "bottom right" in one
    assert two.startswith("Image 2: ") and "bottom left" in two


@pytest.mark.parametrize("asked", ["Who are you?", "What is the capital of France?"])
async def test_it_is_modest_outside_its_world(split: Bifocal, asked: str) -> None:
    assert "small demo model" in (await ask(split, question(asked))).text


async def test_fresh_scenes_are_answered_rightly(split: Bifocal, tmp_path: Path) -> None:
    """Drawn by another renderer and with other seeds than the training's."""
    plan = split.plan

    def bucket_of(height: int, width: int) -> tuple[int, int]:
        bucket = plan.resolution.place(height, width, plan.buckets, "stretch").bucket
        return bucket.height, bucket.width

    cases = [
        case for bucket in BUCKETS for case in world_cases(977, bucket, CASES, bucket_of, "stretch")
    ]
    asker, wrong = Asker(split, tmp_path), Counter[str]()
    gate = asyncio.Semaphore(AT_ONCE)

    async def answer(case: Case) -> str:
        async with gate:
            return await asker.ask(case)

    for case, said in zip(cases, await asyncio.gather(*map(answer, cases)), strict=True):
        wrong[case.line] += not same_text(said, case.expected)
    assert len(cases) >= 100
    assert 1 - wrong.total() / len(cases) >= LEAST_RIGHT, wrong
