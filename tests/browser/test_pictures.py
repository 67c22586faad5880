"""Pictures about to be sent: their order, the camera, several addresses, and the examples."""

import re
from pathlib import Path

from playwright.async_api import BrowserContext, expect

from tests.browser.images_server import ImageServer
from tests.browser.screen import TIMES, Screen

NAMES = "elements => elements.map(element => element.alt)"
WATCH_CAMERAS = """
window.tracks = [];
const ask = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = async (wanted) => {
  const stream = await ask(wanted);
  window.tracks.push(...stream.getTracks());
  return stream;
};
"""
LATE_MESSAGES = """
const fetched = window.fetch;
const late = () => new TransformStream({async transform(chunk, out) {
  await new Promise((done) => setTimeout(done, 500));
  out.enqueue(chunk);
}});
window.fetch = async (...request) => {
  const answer = await fetched(...request);
  if (!String(request[0].url ?? request[0]).includes('/queue/data')) return answer;
  return new Response(answer.body.pipeThrough(late()), {headers: answer.headers});
};
"""
"""As in a browser that is busy when a message comes: what is fetched meanwhile is there first."""


async def names(screen: Screen) -> list[str]:
    found: list[str] = await screen.thumbnails.get_by_role("img").evaluate_all(NAMES)
    return found


async def test_the_order_of_the_page_is_the_order_of_the_prompt(
    screen: Screen, pictures: Path
) -> None:
    await screen.upload(pictures / "circle.png", pictures / "square.png", pictures / "word.png")
    await screen.thumbnails.nth(2).drag_to(screen.thumbnails.nth(0))
    await expect(screen.thumbnails.first).to_contain_text("Image 1")
    await expect(screen.thumbnails.first.get_by_role("img")).to_have_accessible_name(
        "Image 1: word.png"
    )
    await screen.page.get_by_role("button", name="Move image 2 (circle.png) later").click()
    order = ["Image 1: word.png", "Image 2: square.png", "Image 3: circle.png"]
    await expect(screen.thumbnails.nth(2).get_by_role("img")).to_have_accessible_name(order[2])
    assert await names(screen) == order
    await expect(screen.buckets.get_by_role("listitem").nth(1)).to_contain_text("square.png")

    await expect(screen.thumbnails.nth(2)).to_contain_text(re.compile(rf"→ \d+ {TIMES} \d+"))

    await screen.ask("Describe each image.")
    await screen.answered()
    sent = await screen.chat.locator(".bf-shots").get_by_role("img").evaluate_all(NAMES)
    assert sent == order


async def test_a_click_in_the_moment_when_the_page_ends_reading_is_seen(
    context: BrowserContext, app: str, pictures: Path
) -> None:
    """Gradio's page then believes that there is nothing to read, until the next event."""
    await context.add_init_script(LATE_MESSAGES)
    screen = await Screen.open(context, app)
    await screen.upload(pictures / "circle.png", pictures / "square.png", pictures / "word.png")
    order = ["Image 1: square.png", "Image 2: circle.png", "Image 3: word.png"]
    for label, names_now in (
        ("Move image 1 (circle.png) later", order),
        (
            "Move image 2 (circle.png) earlier",
            ["Image 1: circle.png", "Image 2: square.png", "Image 3: word.png"],
        ),
        ("Move image 1 (circle.png) later", order),
    ):
        await screen.page.get_by_role("button", name=label).click()
        await expect(screen.thumbnails.first.get_by_role("img")).to_have_accessible_name(
            names_now[0]
        )
        assert await names(screen) == names_now


async def test_a_double_click_takes_one_picture_away(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png", pictures / "square.png", pictures / "word.png")
    await screen.page.get_by_role("button", name="Remove image 1 (circle.png)").dblclick()
    await expect(screen.thumbnails).to_have_count(2)
    await screen.page.get_by_role("button", name="Move image 1 (square.png) later").dblclick()
    await expect(screen.thumbnails.first.get_by_role("img")).to_have_accessible_name(
        "Image 1: word.png"
    )


async def test_the_camera_takes_pictures_and_goes_off(
    context: BrowserContext, ready_app: str
) -> None:
    await context.grant_permissions(["camera"])
    await context.add_init_script(WATCH_CAMERAS)
    screen = await Screen.open(context, ready_app)
    await screen.page.get_by_role("button", name="Camera", exact=True).click()
    await screen.page.get_by_text("Click to Access Webcam").click()
    photo = screen.page.get_by_role("button", name="capture photo")
    # A click before the first picture has come takes none.
    await expect(screen.page.locator("video")).to_have_js_property("readyState", 4)
    await photo.click()
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.buckets).to_contain_text("Image 1")
    await screen.page.get_by_role("button", name="Close camera").click()
    await expect(photo).to_have_count(0)
    states = await screen.page.evaluate("window.tracks.map(track => track.readyState)")
    assert states
    assert set(states) == {"ended"}
    await screen.ask("What is this?")
    await screen.answered()


async def test_a_camera_that_may_not_be_used_is_told(screen: Screen) -> None:
    await screen.page.get_by_role("button", name="Camera", exact=True).click()
    await screen.page.get_by_text("Click to Access Webcam").click()
    alert = screen.page.locator("#bf-photo").get_by_role("alert")
    await expect(alert).to_contain_text("does not let this page use the camera")
    assert screen.faults == []
    await screen.page.get_by_role("button", name="Close camera").click()
    await screen.ask("Who are you?")
    await screen.answered()


async def test_several_addresses_on_lines_of_their_own(
    screen: Screen, image_server: ImageServer
) -> None:
    await screen.address.fill("\n".join(map(image_server.url, ("circle.png", "square.png"))))
    await screen.add.click()
    await expect(screen.thumbnails).to_have_count(2)
    assert await names(screen) == ["Image 1: circle.png", "Image 2: square.png"]


async def test_examples_show_why_the_bucket_matters(screen: Screen) -> None:
    await screen.examples.filter(has_text="See letters get lost").click()
    await expect(await screen.answered()).to_contain_text("too small")
    await expect(screen.buckets).to_contain_text("small lettering may get lost")
    await screen.examples.filter(has_text="Small print").click()
    await expect(screen.buckets).to_contain_text("small_print.png")
    await expect(await screen.answered()).to_contain_text("bifocal")
    await screen.examples.filter(has_text="See it stretched").click()
    await expect(screen.buckets).to_contain_text("stretched to 4.4 times its width")
