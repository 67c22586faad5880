"""The bucket panel, with numbers worked out by hand.

The demo model's factor is 28: 364x532, 512x910 and 728x1280 snap to 364x532, 504x896 and 728x1288,
which are 13x19 = 247, 18x32 = 576 and 26x46 = 1,196 visual tokens.
"""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.screen import TIMES as X
from tests.browser.screen import Screen


async def test_a_picture_of_a_buckets_own_size(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png")
    for text in ("circle.png", f"364 {X} 532", "247", "Shape kept exactly"):
        await expect(screen.buckets).to_contain_text(text)


async def test_a_portrait_is_stretched_and_the_page_says_so(screen: Screen, pictures: Path) -> None:
    """532 high, 364 wide goes to 728x1288: (1288/728) / (364/532) = 2.586."""
    await screen.upload(pictures / "portrait.png")
    for text in (
        f"532 {X} 364",
        f"728 {X} 1280",
        f"728 {X} 1288",
        "1,196",
        f"Stretched 2.6{X} wider",
    ):
        await expect(screen.buckets).to_contain_text(text)


async def test_padding_keeps_the_shape(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "portrait.png")
    await screen.set_options()
    await screen.page.get_by_role("radio", name="pad").check()
    await expect(screen.buckets).to_contain_text("Shape kept; the rest of the bucket is filled")


async def test_why_names_every_candidate(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "wide.jpg")
    await screen.buckets.get_by_text("Why this bucket?").click()
    rows = screen.buckets.get_by_role("row")
    await expect(rows).to_have_count(4)
    await expect(rows.filter(has_text="chosen")).to_have_count(1)


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
