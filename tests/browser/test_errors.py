"""What goes wrong is said in place, in plain words, and nothing typed or added is lost."""

from pathlib import Path

import pytest
from playwright.async_api import expect

from tests.browser.images_server import ImageServer
from tests.browser.screen import Screen


async def test_an_empty_prompt(screen: Screen, pictures: Path) -> None:
    await screen.upload(pictures / "circle.png")
    await screen.send.click()
    await expect(screen.alert).to_contain_text("question (prompt) is empty")
    await expect(screen.thumbnails).to_have_count(1)


@pytest.mark.parametrize("name", ["broken.png", "notes.txt"])
async def test_a_file_that_is_no_picture(screen: Screen, pictures: Path, name: str) -> None:
    (pictures / "notes.txt").write_text("no picture")
    await screen.prompt.fill("What is this?")
    await screen.file_input.set_input_files(pictures / name)
    await expect(screen.alert).to_contain_text(name)
    await expect(screen.prompt).to_have_value("What is this?")
    await screen.upload(pictures / "circle.png")
    await expect(screen.alert).to_have_count(0)


async def test_an_address_that_cannot_be_reached(screen: Screen, closed_port: int) -> None:
    address = f"http://127.0.0.1:{closed_port}/picture.png"
    await screen.prompt.fill("What is this?")
    await screen.address.fill(address)
    await screen.send.click()
    await expect(screen.alert).to_be_visible()
    await expect(screen.alert).not_to_contain_text("Traceback")
    await expect(screen.address).to_have_value(address)
    await expect(screen.prompt).to_have_value("What is this?")


async def test_an_address_that_is_not_found_beside_one_that_is(
    screen: Screen, image_server: ImageServer
) -> None:
    missing = image_server.url("missing.png")
    await screen.address.fill(f"{image_server.url('circle.png')} {missing}")
    await screen.add.click()
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.alert).to_contain_text("404")
    await expect(screen.address).to_have_value(missing)


async def test_a_prompt_too_long_comes_back_with_its_picture(
    screen: Screen, pictures: Path
) -> None:
    await screen.upload(pictures / "circle.png")
    question = "What is this? " * 9000
    await screen.ask(question)
    await expect(screen.alert).to_contain_text("tokens", timeout=30_000)
    await expect(screen.prompt).to_have_value(question.strip())
    await expect(screen.thumbnails).to_have_count(1)
    await screen.ask("What is this?")
    await screen.answered()


async def test_too_many_pictures(screen: Screen, pictures: Path) -> None:
    await screen.upload(*[pictures / "circle.png"] * 40)
    await screen.ask("What is this?")
    await expect(screen.alert).to_contain_text("images")
    await expect(screen.thumbnails).to_have_count(40)


@pytest.mark.parametrize(
    ("option", "value"), [("max_tokens", "-5"), ("max_tokens", "2.5"), ("seed", "-1")]
)
async def test_a_setting_out_of_range(screen: Screen, option: str, value: str) -> None:
    await screen.set_options(**{option: value})
    await screen.ask("Who are you?")
    await expect(screen.alert).to_be_visible()
    await expect(screen.prompt).to_have_value("Who are you?")


async def test_markup_shows_as_text_and_loads_nothing(
    screen: Screen, image_server: ImageServer
) -> None:
    before = len(image_server.seen)
    spy = image_server.url("spy.png")
    await screen.set_options(max_tokens="8")
    await screen.ask(
        f"<img src={spy} onerror='window.hacked=1'><script>window.hacked=1</script> ![x]({spy})"
    )
    await screen.answered()
    await expect(screen.chat).to_contain_text("<script>window.hacked=1</script>")
    assert await screen.page.evaluate("window.hacked") is None
    assert image_server.seen[before:] == []


async def test_the_page_asks_nobody_else(screen: Screen, pictures: Path, ready_app: str) -> None:
    await screen.upload(pictures / "circle.png")
    await screen.set_options(max_tokens="8")
    await screen.ask("What is this?")
    await screen.answered()
    assert screen.strangers(ready_app) == []
    assert screen.faults == []
