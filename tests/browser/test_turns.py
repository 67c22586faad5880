"""Turns: copied, asked again, edited and deleted, with their pictures."""

from pathlib import Path

from playwright.async_api import BrowserContext, expect

from tests.browser.screen import Screen
from tests.browser.talks import Talks, shown_scene

TRUE_TEXT = 'a < b &lt; c, `x < y` & List<int> "quoted" ![not](loaded.png)'


async def test_copy_gives_the_true_text(context: BrowserContext, screen: Screen) -> None:
    await context.grant_permissions(["clipboard-read", "clipboard-write"])
    talks = Talks(screen)
    await talks.take_in_answer(TRUE_TEXT)
    await talks.button("Copy answer 1").click()
    await expect(talks.notice).to_have_text("The answer is copied.")
    assert await screen.page.evaluate("navigator.clipboard.readText()") == TRUE_TEXT


async def test_turns_are_asked_again_edited_and_deleted(screen: Screen, pictures: Path) -> None:
    talks = await shown_scene(screen, pictures)
    picture = screen.chat.get_by_role("img", name="Image 1: scene.png")

    await screen.prompt.fill("half typed")
    await talks.button("Regenerate answer 1").click()
    await expect(screen.page.get_by_text("The answer is the same as before")).to_be_visible()
    await expect(await screen.answered()).to_have_text("There are 3 shapes.")
    await expect(screen.prompt).to_have_value("half typed")
    await expect(screen.timeline).to_contain_text("embedding reused")

    await screen.ask("What color is the circle?")
    await expect(await screen.answered(2)).to_have_text("The circle is red.")
    await screen.prompt.fill("half typed")
    await talks.button("Edit question 1").click()
    await expect(talks.editing).to_contain_text("Editing question 1")
    await expect(screen.prompt).to_have_value("How many shapes are there?")
    await expect(screen.prompt).to_be_focused()
    await expect(screen.thumbnails).to_have_count(1)
    await talks.button("Cancel").click()
    await expect(screen.prompt).to_have_value("half typed")
    await expect(screen.thumbnails).to_have_count(0)

    await talks.button("Edit question 1").click()
    await expect(screen.prompt).to_have_value("How many shapes are there?")
    await screen.ask("How many circles are there?")
    await expect(await screen.answered()).to_have_text("There is 1 circle.")
    await expect(picture).to_be_visible()
    await expect(talks.editing).to_have_count(0)
    await expect(screen.buckets).to_contain_text("embedding reused")

    await screen.ask("What color is the circle?")
    await screen.answered(2)
    await talks.button("Delete question 2 and its answer").click()
    await expect(screen.answers).to_have_text(["There is 1 circle."])
    await expect(picture).to_be_visible()
    await talks.button("Undo").click()
    await expect(screen.answers).to_have_text(["There is 1 circle.", "The circle is red."])
    # One click of a double one: what comes in the place of the first turn stays.
    await talks.button("Delete question 1 and its answer").dblclick()
    await expect(screen.answers).to_have_text(["The circle is red."])
    await talks.button("Undo").click()
    await expect(screen.answers).to_have_text(["There is 1 circle.", "The circle is red."])


async def test_an_answer_that_was_cut_short_says_so(screen: Screen) -> None:
    await screen.set_options(max_tokens="3")
    await screen.ask("Who are you?")
    await expect(await screen.answered()).to_contain_text("Cut short at 3 tokens.")
