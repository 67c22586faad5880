"""Asking: pictures by every way in, answers that stream, and follow-ups."""

import re
from pathlib import Path

from playwright.async_api import expect

from tests.browser.images_server import ImageServer
from tests.browser.screen import TIMES as X
from tests.browser.screen import Screen

COLOUR = "What color is the {}?"


async def test_an_uploaded_picture_is_answered_rightly(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png")
    await screen.ask(COLOUR.format("circle"))
    answer = await screen.answered()
    await expect(answer).to_contain_text(re.compile("red", re.IGNORECASE))
    await expect(screen.chat.get_by_role("img", name="Image 1: circle.png")).to_be_visible()
    await expect(screen.thumbnails).to_have_count(0)
    await expect(screen.prompt).to_have_value("")


async def test_a_follow_up_reuses_the_embedding(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "square.png")
    await screen.ask(COLOUR.format("square"))
    await screen.answered()
    await screen.ask("What shape is it?")
    answer = await screen.answered(2)
    await expect(answer).not_to_be_empty()
    await expect(screen.buckets).to_contain_text("embedding reused")
    await expect(screen.timeline).to_contain_text("embedding reused")


async def test_a_picture_from_an_address(screen: Screen, image_server: ImageServer) -> None:
    await screen.address.fill(image_server.url("square.png"))
    await screen.add.click()
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.address).to_have_value("")
    await screen.ask(COLOUR.format("square"))
    await expect(await screen.answered()).to_contain_text(re.compile("blue", re.IGNORECASE))
    assert "/square.png" in image_server.seen


async def test_an_address_not_yet_added_is_added_by_send(
    screen: Screen, image_server: ImageServer
) -> None:
    await screen.address.fill(image_server.url("circle.png"))
    await screen.ask(COLOUR.format("circle"))
    await screen.answered()
    await expect(screen.buckets).to_contain_text(f"364 {X} 532")


async def test_a_pasted_picture(screen: Screen, pictures: Path) -> None:
    await screen.prompt.focus()
    await screen.paste("pasted.png", (pictures / "circle.png").read_bytes())
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.buckets).to_contain_text("247")


async def test_a_picture_can_be_removed(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png", pictures / "square.png")
    await screen.page.get_by_role("button", name=re.compile("Remove image 1")).click()
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.thumbnails.first).to_contain_text("Image 1")
    await expect(screen.buckets).not_to_contain_text("circle.png")


async def test_a_question_without_a_picture(screen: Screen) -> None:
    await screen.ask("Who are you?")
    await expect(await screen.answered()).not_to_have_text("…")
    await expect(screen.timeline).to_contain_text("no image")


async def test_the_answer_grows_while_it_streams(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png", pictures / "square.png")
    await screen.watch_lengths()
    await screen.ask("Describe each image.")
    await screen.answered()
    lengths = await screen.lengths()
    assert len(lengths) >= 2
    assert lengths == sorted(lengths)


async def test_an_example_answers_with_one_click(screen: Screen) -> None:
    await screen.examples.first.click()
    await expect(await screen.answered()).not_to_have_text("…")
    await expect(screen.chat.get_by_role("img", name=re.compile("Image 1"))).to_be_visible()


async def test_the_keyboard_alone_asks(screen: Screen) -> None:
    await screen.prompt.focus()
    await screen.page.keyboard.type("Who are you?")
    await screen.page.keyboard.press("Shift+Enter")
    await screen.page.keyboard.type("Tell me.")
    await expect(screen.prompt).to_have_value("Who are you?\nTell me.")
    await screen.page.keyboard.press("Enter")
    await screen.answered()
    await expect(screen.prompt).to_be_focused()


async def test_clear_forgets_everything(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png")
    await screen.ask(COLOUR.format("circle"))
    await screen.answered()
    await screen.clear.click()
    await expect(screen.answers).to_have_count(0)
    await expect(screen.buckets).to_contain_text("Add a picture")
