"""The bucket panel, with numbers worked out by hand.

The demo model's factor is 28: 364x532, 512x910 and 728x1280 snap to 364x532, 504x896 and 728x1288,
which are 13x19 = 247, 18x32 = 576 and 26x46 = 1,196 visual tokens.
"""

import re
from pathlib import Path

import pytest
from playwright.async_api import Locator, expect

from tests.browser.screen import TIMES as X
from tests.browser.screen import Screen


def switch(screen: Screen, number: int) -> Locator:
    """The encoder view of an image."""
    return screen.buckets.get_by_role(
        "checkbox", name=f"Show what the encoder sees of image {number}"
    )


def encoded(screen: Screen, number: int) -> Locator:
    """The picture as the encoder sees it."""
    name = re.compile(f"Image {number} as the encoder sees it")
    return screen.buckets.get_by_role("img", name=name)


async def test_three_pictures_of_different_buckets(screen: Screen, pictures: Path) -> None:
    """247 + 576 + 1196 = 2,019 tokens."""
    await screen.upload(*(pictures / name for name in ("circle.png", "middle.png", "portrait.png")))
    cards = screen.buckets.locator(".bf-bucket")
    await expect(cards).to_have_count(3)
    for card, texts in (
        (0, ("circle.png", f"364 {X} 532", "247 of 16,384", "Shape kept exactly")),
        (1, ("middle.png", f"480 {X} 640", f"512 {X} 910", f"504 {X} 896", "576 of 16,384")),
        (2, ("portrait.png", f"532 {X} 364", f"728 {X} 1288", "1,196 of 16,384")),
    ):
        for text in texts:
            await expect(cards.nth(card)).to_contain_text(text)
    await expect(screen.buckets).to_contain_text("3 images take 2,019 of 16,384 tokens")


async def test_the_encoder_view_is_switched_for_one_picture(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png", pictures / "portrait.png")
    await expect(encoded(screen, 2)).to_have_accessible_name(
        "Image 2 as the encoder sees it, stretched to 728 by 1288 pixels, 26 by 46 visual tokens"
    )
    await expect(switch(screen, 2)).to_be_checked()
    await switch(screen, 2).uncheck()
    await expect(encoded(screen, 2)).to_be_hidden()
    await expect(encoded(screen, 1)).to_be_visible()
    given = screen.buckets.get_by_role("img", name="Image 2 as given, 532 by 364 pixels")
    await expect(given).to_be_visible()
    await switch(screen, 2).focus()
    await screen.page.keyboard.press("Space")
    await expect(encoded(screen, 2)).to_be_visible()


async def test_a_portrait_is_stretched_and_the_page_says_so(screen: Screen, pictures: Path) -> None:
    """532 high, 364 wide goes to 728x1288: (1288/728) / (364/532) = 2.586."""
    await screen.upload(pictures / "portrait.png")
    warnings = screen.buckets.get_by_role("list", name="Warnings").get_by_role("listitem")
    await expect(warnings).to_have_count(1)
    await expect(warnings).to_contain_text("stretched to 2.6 times its width")
    await expect(warnings).to_contain_text("The fit \N{LEFT DOUBLE QUOTATION MARK}pad")


async def test_a_large_picture_is_shrunk_and_the_page_says_so(
    screen: Screen, pictures: Path
) -> None:
    """1920 / 1288 = 1.49, 1080 / 728 = 1.48."""
    await screen.upload(pictures / "wide.jpg")
    warnings = screen.buckets.get_by_role("list", name="Warnings")
    await expect(warnings).to_contain_text("shrunk by a factor of 1.5 per side")
    await expect(warnings).to_contain_text("small lettering may get lost")


async def test_padding_keeps_the_shape(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "portrait.png")
    await screen.set_options()
    await screen.page.get_by_role("radio", name="pad").check()
    await expect(screen.buckets).to_contain_text("Shape kept; the rest of the bucket is filled")
    await expect(screen.buckets.get_by_role("list", name="Warnings")).to_have_count(0)
    await expect(encoded(screen, 1)).to_have_accessible_name(re.compile("inside a border of"))


async def test_why_names_every_candidate_and_its_cost(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "wide.jpg")
    await screen.buckets.get_by_text("Why this bucket?").click()
    rows = screen.buckets.get_by_role("row")
    await expect(rows).to_have_count(4)
    await expect(rows.filter(has_text="chosen")).to_have_count(1)
    await expect(rows.nth(2)).to_contain_text("576")
    await expect(rows.nth(2)).to_contain_text("3.5 %")


async def test_what_was_opened_or_switched_stays_so_when_an_answer_arrives(
    screen: Screen, pictures: Path
) -> None:
    """The panel is drawn anew several times; it used to close what a person had opened."""
    await screen.upload(pictures / "circle.png", pictures / "portrait.png")
    await switch(screen, 1).uncheck()
    await screen.buckets.get_by_text("Why this bucket?").nth(1).click()
    await expect(screen.buckets.get_by_role("table")).to_be_visible()
    await screen.set_options(max_tokens="8")
    await screen.ask("What is in the pictures?")
    await screen.answered()
    await expect(screen.buckets.locator(".bf-badge")).to_have_count(2)
    await expect(screen.buckets.get_by_role("table")).to_have_count(1)
    await expect(screen.buckets.get_by_role("table")).to_be_visible()
    await expect(switch(screen, 1)).not_to_be_checked()
    await expect(switch(screen, 2)).to_be_checked()
    await screen.buckets.get_by_text("Why this bucket?").nth(1).click()
    await expect(screen.buckets.get_by_role("table")).to_be_hidden()


async def test_a_switch_goes_with_its_picture(screen: Screen, pictures: Path) -> None:
    """A redrawing reuses the elements of a picture that was removed for the next one."""
    await screen.upload(pictures / "circle.png", pictures / "portrait.png")
    await switch(screen, 1).uncheck()
    await screen.page.get_by_role("button", name="Remove image 1").click()
    await expect(screen.buckets.locator(".bf-bucket")).to_have_count(1)
    await expect(screen.buckets).to_contain_text("portrait.png")
    await expect(switch(screen, 1)).to_be_checked()
    await expect(encoded(screen, 1)).to_be_visible()


async def test_the_keyboard_stays_on_a_switch_when_the_panel_is_drawn_anew(
    screen: Screen, pictures: Path
) -> None:
    await screen.upload(pictures / "circle.png")
    await switch(screen, 1).focus()
    await screen.upload(pictures / "portrait.png")
    await expect(switch(screen, 2)).to_be_visible()
    await expect(switch(screen, 1)).to_be_focused()


async def test_the_panel_works_while_the_engines_load(loading_page: Screen, pictures: Path) -> None:
    # The first picture needs transformers, which is imported now, beside vLLM on the same cores.
    await loading_page.upload(pictures / "portrait.png", within_ms=60_000)
    await expect(loading_page.buckets).to_contain_text("1,196 of 16,384")
    await expect(encoded(loading_page, 1)).to_be_visible()


@pytest.mark.parametrize("width", [390, 768, 1280, 1920])
async def test_nothing_scrolls_sideways(screen: Screen, pictures: Path, width: int) -> None:
    await screen.page.set_viewport_size({"width": width, "height": 844})
    assert await screen.sideways() <= 0
    await screen.upload(pictures / "portrait.png", pictures / "wide.jpg")
    await screen.buckets.get_by_text("Why this bucket?").first.click()
    await screen.set_options(max_tokens="24")
    await screen.ask("What is in the pictures? " + "Supercalifragilistic" * 8)
    await screen.answered()
    assert await screen.sideways() <= 0


async def test_on_a_phone_the_buckets_are_beneath_the_question(
    screen: Screen, pictures: Path
) -> None:
    """Until there is a picture, what can be tried stands there; and all of the welcome is seen."""
    await screen.page.set_viewport_size({"width": 390, "height": 844})
    welcome = screen.chat.get_by_text("One engine sees.")
    hidden = "e => e.closest('.bubble-wrap').scrollHeight - e.closest('.bubble-wrap').clientHeight"
    assert await welcome.evaluate(hidden) <= 0
    shelf = screen.page.locator("#bf-examples")
    assert await _top(shelf) < await _top(screen.buckets)
    await screen.upload(pictures / "portrait.png", pictures / "scene.png")
    await expect(encoded(screen, 2)).to_be_visible()
    composer = screen.page.locator("#bf-composer")
    assert await _top(composer) < await _top(screen.buckets) < await _top(shelf)
    caption = await screen.thumbnails.first.get_by_text("728").bounding_box()
    later = screen.page.get_by_role("button", name="Move image 1 (portrait.png) later")
    assert caption
    arrow = await later.bounding_box()
    assert arrow
    assert arrow["y"] + arrow["height"] <= caption["y"]


async def _top(part: Locator) -> float:
    box = await part.bounding_box()
    assert box
    return box["y"]
