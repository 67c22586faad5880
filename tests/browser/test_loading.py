"""The page while the engines load: it says so, and a question waits instead of failing."""

from playwright.async_api import expect

from tests.browser.screen import ANSWER_WITHIN_MS, Screen

LOADING_WITHIN_MS = 240_000


async def test_a_question_stopped_while_waiting_is_back_in_its_box(loading_page: Screen) -> None:
    await loading_page.ask("What is this?")
    await expect(loading_page.page.get_by_text("Waiting for the engines")).to_be_visible()
    await loading_page.stop.click()
    await expect(loading_page.prompt).to_have_value("What is this?")
    await expect(loading_page.send).to_be_visible()


async def test_status_goes_from_loading_to_ready_and_the_question_is_answered(
    loading_page: Screen,
) -> None:
    await expect(loading_page.status).to_contain_text("loading")
    await loading_page.ask("Who are you?")
    await expect(loading_page.page.get_by_text("Waiting for the engines")).to_be_visible()
    await expect(loading_page.status).not_to_contain_text("loading", timeout=LOADING_WITHIN_MS)
    await loading_page.answered()
    await expect(loading_page.answers.last).not_to_have_text("…", timeout=ANSWER_WITHIN_MS)
    await expect(loading_page.status).to_contain_text("ready", timeout=10_000)
