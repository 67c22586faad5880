"""The settings drawer: remembered by the browser, set back by a button, and used for answers."""

from pathlib import Path

from playwright.async_api import BrowserContext, Locator, expect

from tests.browser.screen import Screen


def field(screen: Screen, role: str, name: str) -> Locator:
    return screen.page.locator("#bf-settings").get_by_role(role, name=name)  # type: ignore[arg-type]


async def opened(screen: Screen) -> None:
    await screen.page.locator("#bf-settings").get_by_role("button", name="Settings").first.click()
    await expect(screen.page.get_by_label("System prompt")).to_be_visible()


async def test_settings_are_remembered_used_and_set_back(
    screen: Screen, context: BrowserContext, ready_app: str
) -> None:
    await screen.set_options(max_tokens="3", temperature="0.5", seed="")
    await screen.page.get_by_label("System prompt").fill("Be brief.")
    await field(screen, "radio", "generate").check()
    await field(screen, "radio", "pad").check()
    await screen.page.get_by_label("System prompt").blur()
    # Kept by the page's own script; a second page reads what the first has written.
    await expect(screen.page.get_by_label("System prompt")).to_have_value("Be brief.")

    again = await Screen.open(context, ready_app)
    await again.ask("Who are you?")
    await expect(await again.answered()).to_contain_text("Cut short at 3 tokens")
    await opened(again)
    await expect(again.page.get_by_label("System prompt")).to_have_value("Be brief.")
    await expect(field(again, "radio", "generate")).to_be_checked()
    await expect(field(again, "radio", "pad")).to_be_checked()
    await expect(again.page.get_by_label("Seed")).to_have_value("")

    await again.page.get_by_role("button", name="Reset to defaults").click()
    await expect(again.page.get_by_label("System prompt")).to_have_value("")
    await expect(again.page.get_by_label("Max tokens")).to_have_value("256")
    await expect(again.page.get_by_label("Seed")).to_have_value("0")
    await expect(field(again, "radio", "chat")).to_be_checked()
    await again.page.reload()
    await opened(again)
    await expect(again.page.get_by_label("Max tokens")).to_have_value("256")


async def test_what_was_tampered_with_is_ignored(context: BrowserContext, ready_app: str) -> None:
    await context.add_init_script("localStorage['bifocal-settings'] = 'abc:def'")
    screen = await Screen.open(context, ready_app)
    await screen.ask("Who are you?")
    await expect(await screen.answered()).not_to_contain_text("Cut short")
    await opened(screen)
    await expect(screen.page.get_by_label("Max tokens")).to_have_value("256")


async def test_every_setting_is_explained_and_generate_sends_the_last_question_alone(
    screen: Screen, pictures: Path
) -> None:
    await screen.upload(pictures / "circle.png")
    await screen.ask("What color is the circle?")
    await screen.answered()
    await opened(screen)
    for words in (
        "Instructions that come before", "0 always takes the likeliest", "Only the likeliest words",
        "The answer is cut short after", "The same seed draws the same",
        "Chat sends the conversation", "Stretch a picture into its bucket",
    ):  # fmt: skip
        await expect(screen.page.get_by_text(words)).to_be_visible()
    await field(screen, "radio", "generate").check()
    await screen.ask("Who are you?")
    await screen.answered(2)
    await expect(screen.timeline).to_contain_text("no image")


async def test_a_wrong_setting_is_told_before_anything_is_asked(screen: Screen) -> None:
    told = screen.page.locator("#bf-settings").get_by_role("alert")
    await screen.set_options(max_tokens="999999")
    await expect(told).to_contain_text("Max tokens must be between 1 and 16384.")
    await screen.set_options(max_tokens="30")
    await expect(told).to_have_count(0)
    await screen.set_options(seed="1.5")
    await expect(told).to_contain_text("Seed is 1.5; it must be a whole number.")
    await screen.page.get_by_role("button", name="Reset to defaults").click()
    await expect(told).to_have_count(0)


async def test_a_warning_leads_to_the_setting_that_it_names(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "portrait.png")
    await screen.buckets.get_by_role("button", name="fit “pad”").click()
    await expect(field(screen, "radio", "pad")).to_be_focused()
    await screen.page.keyboard.press("Space")
    await expect(field(screen, "radio", "pad")).to_be_checked()
    await expect(screen.buckets).to_contain_text("Shape kept; the rest of the bucket is filled")
