"""Stop ends an answer at once, for its own page only."""

import re

from playwright.async_api import BrowserContext, expect

from tests.browser.screen import ANSWER_WITHIN_MS, Screen, health

CHANGES = ("Edit question", "Delete question")


async def test_stop_stops_and_the_next_question_is_answered(
    context: BrowserContext, babbling_app: str
) -> None:
    screen = await Screen.open(context, babbling_app)
    await screen.babble()
    await screen.stop.click()
    await expect(screen.send).to_be_visible()
    await expect(screen.answers.last).to_contain_text("Stopped.")
    stopped = await screen.answers.last.inner_text()

    assert (await health(babbling_app))["engines"]["language"] == "ready"
    await screen.set_options(max_tokens="16", temperature="0")
    await screen.ask("Who are you?")
    await screen.answered(2)
    assert await screen.answers.first.inner_text() == stopped


async def test_nothing_earlier_can_be_changed_meanwhile(
    context: BrowserContext, babbling_app: str
) -> None:
    screen = await Screen.open(context, babbling_app)
    await screen.babble()
    await screen.stop.click()
    await expect(screen.send).to_be_visible()
    changes = [screen.chat.get_by_role("button", name=f"{act} 1") for act in CHANGES]
    for change in changes:
        await expect(change).to_be_visible()
    await screen.babble()
    for change in changes:
        await expect(change).to_have_count(0)
    await expect(screen.chat.get_by_role("button", name="Copy answer 1")).to_be_visible()
    await screen.stop.click()
    await expect(changes[0]).to_be_visible()


async def test_two_people_do_not_disturb_each_other(
    context: BrowserContext, other_context: BrowserContext, babbling_app: str
) -> None:
    screen = await Screen.open(context, babbling_app)
    other = await Screen.open(other_context, babbling_app)
    await other.ready_to_babble()
    await screen.babble()
    await other.babble()
    await screen.stop.click()
    await expect(screen.answers.last).to_contain_text("Stopped.")

    length = len(await other.answers.last.inner_text())
    longer = re.compile(rf".{{{length + 20}}}", re.DOTALL)
    await expect(other.answers.last).to_have_text(longer, timeout=ANSWER_WITHIN_MS)
    await expect(other.stop).to_be_visible()
    await other.stop.click()
    await expect(other.answers.last).to_contain_text("Stopped.")


async def test_clear_during_an_answer_ends_it(context: BrowserContext, babbling_app: str) -> None:
    screen = await Screen.open(context, babbling_app)
    await screen.babble()
    await screen.clear.click()
    await expect(screen.answers).to_have_count(0)
    await expect(screen.send).to_be_visible()
    await screen.set_options(max_tokens="16", temperature="0")
    await screen.ask("Who are you?")
    await screen.answered(1)
    await expect(screen.answers.last).not_to_contain_text("Stopped")


async def test_leaving_the_page_frees_the_engine(
    context: BrowserContext, other_context: BrowserContext, babbling_app: str
) -> None:
    other = await Screen.open(other_context, babbling_app)
    screen = await Screen.open(context, babbling_app)
    await screen.babble()
    await expect(other.status).to_contain_text("busy", timeout=30_000)
    await screen.page.close()
    await expect(other.status).not_to_contain_text("busy", timeout=30_000)
