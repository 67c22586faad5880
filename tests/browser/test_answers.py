"""Every kind of question that the bundled model knows, asked in the page and rightly answered."""

from pathlib import Path

import gradio
import pytest
from playwright.async_api import expect

from tests.browser.screen import Screen

SCENE = (
    "A large blue square at the top left, a large green triangle in the center and a large red "
    "circle at the bottom right, on a white background."
)
MIRRORED = (
    "A large blue square at the top right, a large green triangle in the center and a large red "
    "circle at the bottom left, on a white background."
)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("Describe this image.", SCENE),
        ("How many shapes are there?", "There are 3 shapes."),
        ("How many red shapes are there?", "There is 1 red shape."),
        ("How many circles are there?", "There is 1 circle."),
        ("What color is the triangle?", "The triangle is green."),
        ("What shape is red?", "The red shape is a circle."),
        ("Where is the square?", "The square is at the top left."),
        ("What is in the center?", "A large green triangle."),
        ("What size is the circle?", "The circle is large."),
        ("Is there a blue square?", "Yes, there is a blue square."),
        ("Is there a yellow star?", "No, there is no yellow star."),
        ("What color is the background?", "The background is white."),
        (
            "What is left of the triangle?",
            "The triangle is in the center. Left of it: a large blue square at the top left.",
        ),
        (
            "What is right of the triangle?",
            "The triangle is in the center. Right of it: a large red circle at the bottom right.",
        ),
        (
            "What is above the triangle?",
            "The triangle is in the center. Above it: a large blue square at the top left.",
        ),
        (
            "What is below the triangle?",
            "The triangle is in the center. Below it: a large red circle at the bottom right.",
        ),
        (
            "What is above the square?",
            "The square is at the top left. Above it: nothing.",
        ),
        (
            "Is the square left of the circle?",
            "The square is at the top left and the circle at the bottom right: yes, the square is "
            "left of the circle.",
        ),
    ],
)
async def test_a_question_about_a_scene(
    screen: Screen, pictures: Path, asked: str, expected: str
) -> None:
    await screen.upload(pictures / "scene.png")
    await screen.ask(asked)
    await expect(await screen.answered()).to_have_text(expected)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What does it say?", 'It says "TIGER".'),
        ("What color is the word?", "The word is black."),
        (
            "Describe this image.",
            'The word "TIGER" in black in the middle, on a yellow background.',
        ),
    ],
)
async def test_a_question_about_a_word(
    screen: Screen, pictures: Path, asked: str, expected: str
) -> None:
    await screen.upload(pictures / "word.png")
    await screen.ask(asked)
    await expect(await screen.answered()).to_have_text(expected)


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("What color is it?", "The circle is red."),
        ("What shape is this?", "A circle."),
        ("Where is the shape?", "The circle is in the center."),
        ("Describe this image.", "A large red circle in the center, on a white background."),
    ],
)
async def test_a_question_about_the_only_thing_in_the_picture(
    screen: Screen, pictures: Path, asked: str, expected: str
) -> None:
    """It takes up more than half of the picture, as people draw a single thing, and has no name."""
    await screen.upload(pictures / "lone.png")
    await screen.ask(asked)
    await expect(await screen.answered()).to_have_text(expected)


async def test_several_pictures_are_told_in_their_order(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "mirrored.png", pictures / "scene.png", pictures / "word.png")
    await screen.ask("What is the content of each image?")
    answer = await screen.answered()
    await expect(answer).to_contain_text(f"Image 1: {MIRRORED}")
    await expect(answer).to_contain_text(f"Image 2: {SCENE}")
    await expect(answer).to_contain_text('Image 3: The word "TIGER"')
    await screen.ask("What color is the circle in the second image?")
    await expect(await screen.answered(2)).to_have_text("The circle is red.")


async def test_one_of_several_pictures_is_found(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "mirrored.png", pictures / "word.png", pictures / "scene.png")
    await screen.ask("Which image has a yellow background?")
    await expect(await screen.answered()).to_have_text("Image 2.")


async def test_follow_up_questions_in_one_conversation(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "scene.png")
    await screen.ask("How many shapes are there?")
    await expect(await screen.answered()).to_have_text("There are 3 shapes.")
    await screen.ask("What color is the circle?")
    await expect(await screen.answered(2)).to_have_text("The circle is red.")
    await screen.ask("Where is the circle?")
    await expect(await screen.answered(3)).to_have_text("The circle is at the bottom right.")


@pytest.mark.parametrize(
    "asked", ["Who are you?", "What is the capital of France?", "Write a poem about the sea."]
)
async def test_it_is_modest_about_all_else(screen: Screen, asked: str) -> None:
    await screen.ask(asked)
    await expect(await screen.answered()).to_contain_text("small demo model")


async def test_it_is_modest_about_a_photograph(screen: Screen) -> None:
    photograph = Path(gradio.__file__).parent / "media_assets" / "images" / "lion.jpg"
    await screen.upload(photograph)
    await screen.ask("What is in this image?")
    await expect(await screen.answered()).to_contain_text("small demo model")
