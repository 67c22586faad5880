"""The page for everyone: axe-core in every state, the keyboard, screen readers, less motion."""

import re
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.screen import ANSWER_WITHIN_MS, Screen
from tests.browser.talks import Talks

THEMES = ("light", "dark")
GRAVE = ("serious", "critical")


async def faults(page: Page) -> list[str]:
    """What axe-core finds that is serious or critical, each with where it is."""
    results = await Axe().run(page)
    found: list[dict[str, Any]] = results.response["violations"]
    return [
        f"{fault['id']} ({fault['impact']}): {[node['target'] for node in fault['nodes']]}"
        for fault in found
        if fault["impact"] in GRAVE
    ]


async def open_in(theme: str, context: BrowserContext, app: str) -> Screen:
    screen = await Screen.open(context, app, f"?__theme={theme}")
    is_dark = await screen.page.evaluate("document.body.classList.contains('dark')")
    assert is_dark == (theme == "dark")
    return screen


@pytest.mark.parametrize("theme", THEMES)
async def test_axe_on_the_empty_the_error_and_the_answered_page(
    context: BrowserContext, ready_app: str, pictures: Path, theme: str
) -> None:
    screen = await open_in(theme, context, ready_app)
    assert await faults(screen.page) == []

    await screen.upload(pictures / "portrait.png", pictures / "circle.png")
    await screen.file_input.set_input_files(pictures / "broken.png")
    await expect(screen.alert).to_be_visible()
    assert await faults(screen.page) == []

    await screen.ask("Describe each image.")
    await screen.answered()
    await screen.set_options(max_tokens="200")
    await screen.buckets.get_by_text("Why this bucket?").first.click()
    assert await faults(screen.page) == []


@pytest.mark.parametrize("theme", THEMES)
async def test_axe_on_the_busy_page_and_less_motion_where_it_is_asked_for(
    context: BrowserContext, babbling_app: str, theme: str
) -> None:
    """Gradio puts its container before selectors in media queries alone: the rule never fitted."""
    screen = await open_in(theme, context, babbling_app)
    await screen.babble()
    pulse = screen.page.locator("#bf-stage .bf-pulse")
    await expect(pulse).to_have_css("animation-iteration-count", "infinite")
    await screen.page.emulate_media(reduced_motion="reduce")
    await expect(pulse).to_have_css("animation-iteration-count", "1")
    assert await faults(screen.page) == []
    await expect(screen.stop).to_be_visible()
    await screen.stop.click()
    await expect(screen.send).to_be_visible(timeout=ANSWER_WITHIN_MS)


async def test_axe_would_find_a_fault(screen: Screen) -> None:
    """That the tests above look at the page at all."""
    await screen.page.evaluate("document.body.append(document.createElement('button'))")
    assert [fault.split()[0] for fault in await faults(screen.page)] == ["button-name"]


SMALL = """least => [...document.querySelectorAll('button, summary, input, textarea, label, a')]
  .filter((e) => e.checkVisibility({visibilityProperty: true, opacityProperty: true}))
  .filter((e) => !e.matches('[type=file], [type=checkbox], .bf-go, footer *') && e.innerText !== '')
  .map((e) => [e.ariaLabel || e.innerText || e.outerHTML.slice(0, 60), e.getBoundingClientRect()])
  .filter(([, box]) => box.width > 1 && Math.min(box.width, box.height) < least)
  .map(([name, box]) => `${name}: ${Math.round(box.width)} x ${Math.round(box.height)}`)"""
FINGER = 36
"""Pixels; WCAG 2.2 asks for 24."""


async def test_fingers_find_everything(
    phone_context: BrowserContext, ready_app: str, pictures: Path
) -> None:
    screen = await Screen.open(phone_context, ready_app)
    await screen.upload(pictures / "portrait.png", pictures / "circle.png")
    assert await screen.page.evaluate(SMALL, FINGER) == []
    await screen.ask("Describe each image.")
    await screen.answered()
    assert await screen.page.evaluate(SMALL, FINGER) == []


NAME = """() => {
  const e = document.activeElement;
  return (e.ariaLabel || e.labels?.[0]?.textContent || e.innerText || e.tagName).trim()
    .split('\\n')[0];
}"""


async def test_tab_reaches_everything_in_the_order_of_the_page(screen: Screen) -> None:
    """From the prompt, where the page begins, once round."""
    await expect(screen.prompt).to_be_focused()
    names: list[str] = []
    for _ in range(60):
        await screen.page.keyboard.press("Tab")
        names.append(await screen.page.evaluate(NAME))
        if names[-1].startswith("Your question"):
            break
    top = next(i for i, name in enumerate(names) if name.startswith("Conversations"))
    names = names[top:] + names[:top]
    places = [
        next((i for i, name in enumerate(names) if name.startswith(start)), -1)
        for start in (
            "Conversations", "New", "Export", "chatbot conversation", "Click to upload", "Camera",
            "Picture addresses", "Add", "Your question", "Send", "Clear", "Three shapes",
            "Settings",
        )
    ]  # fmt: skip
    assert -1 not in places, names
    assert places == sorted(places), names


async def test_the_keyboard_alone_adds_orders_asks_and_removes(
    screen: Screen, pictures: Path
) -> None:
    page, press = screen.page, screen.page.keyboard.press
    await page.get_by_role("button", name="Click to upload").focus()
    async with page.expect_file_chooser() as chooser:
        await press("Enter")
    await (await chooser.value).set_files([pictures / "circle.png", pictures / "square.png"])
    await expect(screen.thumbnails).to_have_count(2)
    await expect(page.get_by_role("button", name="Click to upload")).to_be_focused()

    later = page.get_by_role("button", name=re.compile("Move image 1 .* later"))
    await later.focus()
    await press("Space")
    await expect(screen.thumbnails.first.get_by_role("img")).to_have_accessible_name(
        "Image 1: square.png"
    )
    await expect(
        page.get_by_role("button", name="Move image 2 (circle.png) earlier")
    ).to_be_focused()
    await press("Tab")
    await press("Enter")
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.thumbnails.first).to_contain_text("Image 1")

    await screen.prompt.focus()
    await page.keyboard.type("What color is the square?")
    await press("Tab")
    await expect(screen.send).to_be_focused()
    await press("Enter")
    await expect(await screen.answered()).to_contain_text(re.compile("blue", re.IGNORECASE))
    await expect(screen.prompt).to_be_focused()


async def test_an_answer_is_read_aloud_once(screen: Screen, pictures: Path) -> None:
    """Gradio's live region is drawn anew with every piece, and would be read from its beginning."""
    aloud = screen.page.get_by_role("log", name="Read aloud")
    await screen.upload(pictures / "scene.png")
    await screen.ask("Describe this image.")
    answer = " ".join((await (await screen.answered()).locator(".prose").inner_text()).split())
    assert len(answer) > 20
    await expect(aloud).to_contain_text(answer[-20:])
    assert " ".join((await aloud.inner_text()).split()) == answer
    transcript = screen.chat.get_by_role("log")
    await expect(transcript).to_have_attribute("aria-live", "off")

    await screen.ask("Who are you?")
    second = " ".join((await (await screen.answered(2)).locator(".prose").inner_text()).split())
    await expect(aloud).to_contain_text(second[-20:])
    assert " ".join((await aloud.inner_text()).split()) == f"{answer} {second}"

    talks = Talks(screen)
    await talks.button("New").click()
    await expect(screen.answers).to_have_count(0)
    await (await talks.entries(1)).get_by_role("button", name="Describe").first.click()
    await expect(screen.answers).to_have_count(2)
    await screen.ask("How many shapes are there?")
    third = " ".join((await (await screen.answered(3)).locator(".prose").inner_text()).split())
    await expect(aloud).to_contain_text(third[-20:])
    assert " ".join((await aloud.inner_text()).split()) == f"{answer} {second} {third}"


LOOK_SELDOM = """{
  const later = window.setTimeout;
  window.setTimeout = (call, ms, ...more) => later(call, ms === 120 ? 4000 : ms, ...more);
}"""
"""Instead of 120 ms after a change."""


async def test_an_answer_faster_than_the_page_looks_is_read_aloud(
    context: BrowserContext, ready_app: str
) -> None:
    """Nothing was seen of it while it was under way."""
    await context.add_init_script(LOOK_SELDOM)
    screen = await Screen.open(context, ready_app)
    await screen.ask("Who are you?")
    answer = " ".join((await (await screen.answered()).locator(".prose").inner_text()).split())
    await expect(screen.page.get_by_role("log", name="Read aloud")).to_have_text(answer)
