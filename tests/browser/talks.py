"""The conversation bar and the buttons at each turn, as a person uses them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from playwright.async_api import Locator, expect

from tests.browser.screen import Screen


class Talks:
    """The conversations of one open page."""

    def __init__(self, screen: Screen) -> None:
        self.screen = screen
        self.bar = screen.page.get_by_role("group", name="Conversations")
        self.kept = self.bar.get_by_role("list", name="Conversations in this browser")
        self.notice = screen.page.locator("#bf-library").get_by_role("status")
        self.editing = screen.page.locator("#bf-editing").get_by_role("status")
        self.menu = self.bar.get_by_text("Conversations").first
        self.file = self.bar.get_by_label("Import a JSON file")

    def button(self, name: str) -> Locator:
        """A button of the bar, or at a turn."""
        return self.screen.page.get_by_role("button", name=name, exact=True)

    def title(self, name: str) -> Locator:
        """The name of the conversation that is shown, above it."""
        return self.bar.get_by_text(name, exact=True).last

    async def entries(self, count: int) -> Locator:
        """Open the list; its entries."""
        if not await self.kept.is_visible():
            await self.menu.click()
        found = self.kept.get_by_role("listitem")
        await expect(found).to_have_count(count)
        return found

    async def export(self, kind: str) -> tuple[str, str]:
        """Name and text of an exported file."""
        await self.bar.get_by_text("Export").click()
        async with self.screen.page.expect_download() as started:
            await self.bar.get_by_role("button", name=kind).click()
        download = await started.value
        path = await download.path()
        return download.suggested_filename, path.read_text("utf-8")

    async def take_in(self, name: str, text: str) -> None:
        """Import a file."""
        await self.file.set_input_files(
            {"name": name, "mimeType": "application/json", "buffer": text.encode()}
        )

    async def take_in_answer(self, answer: str) -> None:
        """Import a conversation of one question with this answer."""
        await self.take_in("made.json", json.dumps(made(answer)))
        await expect(self.screen.answers).to_have_count(1)


def made(answer: str, **image: Any) -> dict[str, Any]:
    """A conversation as an export has it, with a picture if anything of one is given."""
    turn = {
        "prompt": "Made up", "images": [image] if image else [],
        "answer": {"text": answer, "finish_reason": "stop"},
    }  # fmt: skip
    return {
        "format": "bifocal-conversation", "version": 1, "id": "", "title": "Made by hand",
        "model": "none", "turns": [turn],
    }  # fmt: skip


async def shown_scene(screen: Screen, pictures: Path) -> Talks:
    """One question about the scene, answered."""
    await screen.upload(pictures / "scene.png")
    await screen.ask("How many shapes are there?")
    await expect(await screen.answered()).to_have_text("There are 3 shapes.")
    return Talks(screen)
