"""What a person sees and does on the page, by role, label and test id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
from playwright.async_api import BrowserContext, Locator, Page, expect

TIMES = "\N{MULTIPLICATION SIGN}"
ANSWER_WITHIN_MS = 60_000
ENDLESS = "Tell me everything about everything."

expect.set_options(timeout=15_000)

TWO_FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"

WATCH_LENGTHS = """() => {
  window.lengths = [];
  const look = () => {
    const last = [...document.querySelectorAll('#bf-chat .bot.message')].at(-1);
    const length = last ? last.textContent.trim().length : 0;
    if (length !== window.lengths.at(-1)) window.lengths.push(length);
  };
  new MutationObserver(look).observe(document.querySelector('#bf-chat'),
    {childList: true, subtree: true, characterData: true});
}"""


async def health(app: str) -> dict[str, Any]:
    """The body of `/health`."""
    async with httpx.AsyncClient() as http:
        body: dict[str, Any] = (await http.get(f"{app}/health")).json()
        return body


class Screen:
    """One open page."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.faults: list[str] = []
        self.prompt = page.get_by_role("textbox", name="Your question")
        self.address = page.get_by_role("textbox", name="Picture addresses")
        self.add = page.get_by_role("button", name="Add", exact=True)
        self.send = page.get_by_role("button", name="Send", exact=True)
        self.stop = page.get_by_role("button", name="Stop", exact=True)
        self.clear = page.locator("#bf-clear")
        self.chat = page.locator("#bf-chat")
        self.answers = page.locator("#bf-chat .bot.message")
        self.alert = page.locator("#bf-message").get_by_role("alert")
        self.thumbnails = page.get_by_role("list", name="Images to be sent").get_by_role("listitem")
        self.buckets = page.locator("#bf-buckets")
        self.timeline = page.locator("#bf-timeline")
        self.status = page.locator("#bf-status").get_by_role("status")
        self.examples = page.locator("#bf-examples").get_by_role("button")
        self.file_input = page.locator("#bf-images input[type=file]")

    @classmethod
    async def open(cls, context: BrowserContext, address: str, query: str = "") -> Screen:
        """A new tab on the app."""
        page = await context.new_page()
        screen = cls(page)
        page.on("request", lambda request: screen.requests.append(request.url))
        page.on("pageerror", lambda error: screen.faults.append(str(error)))
        await page.goto(f"{address}/{query}")
        await expect(screen.prompt).to_be_visible()
        return screen

    async def upload(self, *files: Path, within_ms: float = 15_000) -> None:
        """Choose files, and wait for their thumbnails."""
        before = await self.thumbnails.count()
        await self.file_input.set_input_files(files)
        await expect(self.thumbnails).to_have_count(before + len(files), timeout=within_ms)

    async def ask(self, question: str) -> None:
        """Type a question and press Send."""
        await self.prompt.fill(question)
        await self.send.click()

    async def answered(self, count: int = 1) -> Locator:
        """Wait for an answer's end; the last answer."""
        await expect(self.answers).to_have_count(count, timeout=ANSWER_WITHIN_MS)
        await expect(self.send).to_be_visible(timeout=ANSWER_WITHIN_MS)
        return self.answers.last

    async def set_options(self, **values: str) -> None:
        """Fill fields of the settings drawer by their label, with blanks for underscores."""
        drawer = self.page.locator("#bf-settings")
        if not await drawer.get_by_label("Max tokens").is_visible():
            await drawer.get_by_role("button", name="Settings").click()
            await expect(drawer.get_by_label("Max tokens")).to_be_visible()
            # The fields are made now; what is typed before they are drawn would be set back.
            await self.page.evaluate(TWO_FRAMES)
        for label, value in values.items():
            pattern = re.compile(label.replace("_", " "), re.IGNORECASE)
            field = drawer.get_by_role("spinbutton", name=pattern)
            await field.fill(value)
            await field.blur()
            await expect(field).to_have_value(value)
        await self.page.evaluate(TWO_FRAMES)

    async def ready_to_babble(self) -> None:
        """Settings for an endless answer."""
        await self.set_options(max_tokens="15000", temperature="1", seed="")

    async def babble(self) -> None:
        """Start an answer that goes on until it is stopped; needs the babbling app.

        Not hotter: random bytes make a browser look for fonts, which can freeze it for seconds.
        """
        await self.ready_to_babble()
        await self.ask(ENDLESS)
        begun = re.compile(r"\w+ \w+")
        await expect(self.answers.last).to_have_text(begun, timeout=ANSWER_WITHIN_MS)

    async def watch_lengths(self) -> None:
        """From now on note every length that the last answer is seen to have."""
        await self.page.evaluate(WATCH_LENGTHS)

    async def lengths(self) -> list[int]:
        """The lengths noted."""
        found: list[int] = await self.page.evaluate("window.lengths")
        return found

    async def paste(self, name: str, data: bytes) -> None:
        """Paste a picture, as a browser reports it, where the keyboard is."""
        await self.page.evaluate(
            """([name, bytes]) => {
              const transfer = new DataTransfer();
              transfer.items.add(new File([new Uint8Array(bytes)], name, {type: 'image/png'}));
              document.activeElement.dispatchEvent(new ClipboardEvent('paste',
                {clipboardData: transfer, bubbles: true, cancelable: true}));
            }""",
            [name, list(data)],
        )

    async def sideways(self) -> int:
        """Pixels by which the page is wider than its window."""
        wider: int = await self.page.evaluate(
            "document.documentElement.scrollWidth - window.innerWidth"
        )
        return wider

    def strangers(self, own: str) -> Sequence[str]:
        """Requests that went elsewhere than to the app."""
        return [url for url in self.requests if not url.startswith((own, "data:", "blob:"))]
