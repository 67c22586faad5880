"""The page over two `vllm serve`, one of which goes away and comes back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.conftest import running_app, wait_until_ready
from tests.browser.screen import Screen, health
from tests.browser.test_answers import SCENE
from tests.engine.servers import KEY, VllmServer, free_ports, printed_lines
from tests.readme import LANGUAGE, OTHER_VISION, VISION, at, command

pytestmark = pytest.mark.timeout(400)


@dataclass(frozen=True)
class Remote:
    """The app's address, and its encoder."""

    app: str
    encoder: VllmServer
    encoder_url: str


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    folder = tmp_path_factory.mktemp("servers")
    urls = [f"http://127.0.0.1:{port}" for port in free_ports(2)]
    lines = printed_lines(*urls)
    words = command("Scaling", "--topology", without=(OTHER_VISION, "engine-args"))
    _, *flags = at(words, {VISION: urls[0], LANGUAGE: urls[1]})
    servers = [VllmServer(lines[role], folder / role) for role in ("vision", "language")]
    try:
        for server in servers:
            server.start()
        keys = {"BIFOCAL_VISION_API_KEY": KEY, "BIFOCAL_LANGUAGE_API_KEY": KEY}
        with running_app("remote_app", *flags, environment=keys) as app:
            for server, url in zip(servers, urls, strict=True):
                server.wait(url)
            wait_until_ready(app, "remote_app")
            yield Remote(app, servers[0], urls[0])
    finally:
        for server in servers:
            server.kill()


async def test_a_picture_is_answered_and_the_encoder_comes_back(
    remote: Remote, context: BrowserContext, pictures: Path
) -> None:
    """The page came up before its servers: it waited for them, and says what it waits for."""
    screen = await Screen.open(context, remote.app)
    await expect(screen.page.get_by_role("list", name="What is running")).to_contain_text("remote")
    await screen.upload(pictures / "scene.png")
    await screen.ask("Describe this image.")
    await expect(await screen.answered()).to_have_text(SCENE)

    remote.encoder.kill()
    await expect(screen.status).to_contain_text(
        "The vision server cannot be reached", timeout=30_000
    )
    assert remote.encoder_url not in await screen.page.content()
    body = await health(remote.app)
    assert body["status"] == "degraded"
    assert "The vision server cannot be reached" in body["details"]["vision"]
    assert "127.0.0.1" not in body["details"]["vision"]
    await screen.ask("How many shapes are there?")
    await expect(await screen.answered(2)).to_have_text("There are 3 shapes.")

    remote.encoder.start()
    await screen.upload(pictures / "lone.png")
    await screen.ask("What color is the circle?")
    await asyncio.to_thread(remote.encoder.wait, remote.encoder_url)
    await expect(await screen.answered(3)).to_have_text(re.compile(r"red", re.IGNORECASE))
    assert screen.faults == []
