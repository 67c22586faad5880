"""Conversations that the browser keeps: through reloads, side by side, as files, and full up."""

import json
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.images_server import ImageServer
from tests.browser.screen import Screen
from tests.browser.talks import Talks, made, shown_scene

FILL = """() => {
  for (let size = 2 ** 22; size >= 1; size /= 2) {
    for (let i = 0; i < 3; i++) {
      try {
        localStorage.setItem('other' + Math.random(), 'x'.repeat(size));
      } catch {}
    }
  }
}"""


async def test_a_reload_loses_nothing(screen: Screen, pictures: Path) -> None:
    await shown_scene(screen, pictures)
    await screen.upload(pictures / "word.png")
    await screen.prompt.fill("half typed")
    await screen.page.reload()
    await expect(screen.answers).to_have_text(["There are 3 shapes."])
    await expect(screen.chat.get_by_role("img", name="Image 1: scene.png")).to_be_visible()
    await expect(screen.prompt).to_have_value("half typed")
    await expect(screen.buckets).to_contain_text("scene.png")
    await expect(screen.thumbnails).to_have_count(1)
    await screen.page.get_by_role("button", name="Remove image 2").click()
    await expect(screen.thumbnails).to_have_count(0)
    await screen.ask("What color is the circle?")
    await expect(await screen.answered(2)).to_have_text("The circle is red.")
    await expect(screen.timeline).to_contain_text("embedding reused")


async def test_a_reload_during_an_answer_keeps_what_there_was(
    context: BrowserContext, babbling_app: str
) -> None:
    screen = await Screen.open(context, babbling_app)
    await screen.babble()
    await screen.page.reload()
    await expect(screen.answers).to_have_count(1)
    await expect(screen.answers.last).to_contain_text("Stopped.")
    await expect(screen.send).to_be_visible()


async def test_several_conversations(
    context: BrowserContext, screen: Screen, ready_app: str
) -> None:
    talks = Talks(screen)
    await screen.ask("Who are you?")
    await screen.answered()
    await talks.button("New").click()
    await expect(screen.answers).to_have_count(0)
    await screen.ask("What is the capital of France?")
    await screen.answered()

    other = Talks(await Screen.open(context, ready_app))
    await other.screen.ask("Write a poem about the sea.")
    await other.screen.answered()

    entries = await talks.entries(3)
    await entries.filter(has_text="Who are you?").get_by_role("button", name="Rename").click()
    await talks.kept.get_by_role("textbox", name="New name").fill("First <one>")
    await screen.page.keyboard.press("Enter")
    await talks.kept.get_by_role("button", name="First <one>").first.click()
    await expect(screen.chat).to_contain_text("Who are you?")
    await expect(talks.title("First <one>")).to_be_visible()

    await (await talks.entries(3)).filter(has_text="capital").get_by_text("Delete").click()
    await expect(talks.notice).to_contain_text("is deleted")
    await talks.entries(2)
    await talks.button("Undo").click()
    await expect(screen.chat).to_contain_text("capital of France")
    await talks.entries(3)
    await screen.page.keyboard.press("Escape")

    await screen.clear.click()
    await expect(screen.answers).to_have_count(0)
    await talks.entries(2)
    await screen.page.reload()
    await expect(screen.answers).to_have_count(0)
    await talks.entries(2)


async def test_exported_and_imported_again(screen: Screen, pictures: Path) -> None:
    talks = await shown_scene(screen, pictures)
    name, text = await talks.export("Markdown")
    assert name == "bifocal-how-many-shapes-are-there.md"
    assert "- Image 1: scene.png, 600 x 900 pixels (height x width)" in text
    assert "There are 3 shapes." in text
    name, text = await talks.export("JSON")
    assert name == "bifocal-how-many-shapes-are-there.json"

    await talks.take_in(name, text)
    await talks.entries(2)
    await screen.page.keyboard.press("Escape")
    await expect(screen.chat).to_contain_text("Image 1 is no longer on the server")
    await expect(screen.chat.get_by_role("img", name="Image 1: scene.png")).to_be_visible()
    await screen.ask("What color is the circle?")
    await expect(screen.alert).to_contain_text("Image 1 (scene.png) is no longer on the server")
    await expect(screen.prompt).to_have_value("What color is the circle?")

    await screen.file_input.set_input_files(pictures / "scene.png")
    await expect(screen.chat).not_to_contain_text("no longer on the server")
    await expect(screen.thumbnails).to_have_count(0)
    await screen.send.click()
    await expect(await screen.answered(2)).to_have_text("The circle is red.")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no json", "not JSON"),
        ('{"turns": []}', "not a conversation that Bifocal exported"),
        (json.dumps({**made("x"), "turns": [{"prompt": 5}]}), "prompt of turn 1 is not text"),
    ],
)
async def test_a_bad_file_is_told(screen: Screen, text: str, said: str) -> None:
    await Talks(screen).take_in("bad.json", text)
    await expect(screen.alert).to_contain_text(said)
    await expect(screen.answers).to_have_count(0)


async def test_a_hostile_file_reads_and_fetches_nothing(
    screen: Screen, image_server: ImageServer, pictures: Path, ready_app: str
) -> None:
    before, spy = len(image_server.seen), image_server.url("circle.png")
    hostile = f'<img src="{spy}" onerror="window.hacked=1"> ![spy]({spy})'
    picture = {
        "name": '"><img src=x onerror=window.hacked=1>', "thumbnail": spy, "location": spy,
        "path": str(pictures / "circle.png"), "url": spy, "sha256": "0" * 64,
    }  # fmt: skip
    talks = Talks(screen)
    await talks.take_in("hostile.json", json.dumps({**made(hostile, **picture), "title": hostile}))
    await expect(screen.chat).to_contain_text("Image 1 is no longer on the server")
    await screen.ask("What is this?")
    await expect(screen.alert).to_contain_text("no longer on the server")
    await talks.entries(1)
    assert await screen.page.evaluate("window.hacked") is None
    assert image_server.seen[before:] == []
    assert screen.strangers(ready_app) == []


async def test_answers_show_code_tables_and_formulas_and_load_nothing(
    screen: Screen, image_server: ImageServer, ready_app: str
) -> None:
    spy = image_server.url("spy.png")
    await Talks(screen).take_in_answer(
        "| shape | count |\n| --- | --- |\n| `List<int>` | 3 |\n\n"
        "```python\nif a < b: print('<b>')\n```\n\n"
        r"Inline \(a < b^2\) and $$\int_0^1 x^2 \, dx = \frac{1}{3}$$"
        f"\n\n<b>not bold</b> ![spy]({spy})\n\n"
        f"```mermaid\ngraph TD; A[\"<img src='{spy}' onerror='window.hacked=1'>\"]\n```\n"
    )
    answer = screen.answers.last
    await expect(answer.get_by_role("cell", name="List<int>")).to_be_visible()
    await expect(answer.locator("pre code").first).to_contain_text("if a < b: print('<b>')")
    await expect(answer.locator("math annotation")).to_have_text(
        ["a < b^2", r"\int_0^1 x^2 \, dx = \frac{1}{3}"]
    )
    await expect(answer).to_contain_text("<b>not bold</b>")
    await expect(answer.locator("pre code").last).to_contain_text("graph TD")
    await expect(answer.locator("img")).to_have_count(0)
    assert await screen.page.evaluate("window.hacked") is None
    assert screen.strangers(ready_app) == []


async def test_a_full_storage_is_said(screen: Screen) -> None:
    await screen.page.evaluate(FILL)
    await screen.ask("Who are you?")
    await screen.answered()
    await expect(Talks(screen).notice).to_contain_text("The browser cannot keep this")


async def test_the_oldest_conversation_gives_way(screen: Screen) -> None:
    await screen.page.evaluate(
        """(record) => {
          for (let i = 0; i < 30; i++) {
            const id = String(i).padStart(32, '0');
            localStorage.setItem('bifocal:conversation:' + id, JSON.stringify(
              {title: 'Old ' + i, kept: i, record: {...record, id}}));
          }
        }""",
        made("x"),
    )
    await screen.ask("Who are you?")
    await expect(Talks(screen).notice).to_contain_text("“Old 0” had to go")
    await screen.answered()
    await Talks(screen).entries(30)


@pytest.mark.timeout(300)
async def test_a_question_asked_while_loading_outlives_a_reload(loading_page: Screen) -> None:
    await loading_page.ask("Who are you?")
    await expect(Talks(loading_page).title("Who are you?")).to_be_visible()
    await loading_page.page.reload()
    await expect(loading_page.chat).to_contain_text("There is no answer: it was interrupted.")
    await Talks(loading_page).button("Regenerate answer 1").click()
    await expect(loading_page.page.get_by_text("Waiting for the engines")).to_be_visible()
    await loading_page.stop.click()
    await expect(loading_page.send).to_be_visible()


async def test_undo_after_clear_brings_back_what_was_about_to_be_sent(
    screen: Screen, pictures: Path
) -> None:
    talks = await shown_scene(screen, pictures)
    await screen.upload(pictures / "word.png")
    await screen.prompt.fill("half typed")
    await screen.clear.click()
    await expect(screen.answers).to_have_count(0)
    await expect(screen.thumbnails).to_have_count(0)
    await expect(screen.prompt).to_have_value("")
    await talks.button("Undo").click()
    await expect(screen.answers).to_have_text(["There are 3 shapes."])
    await expect(screen.thumbnails).to_have_count(1)
    await expect(screen.prompt).to_have_value("half typed")
