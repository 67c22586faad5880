"""The real app with its real engines, a server of pictures, and a headless Chromium.

One app serves all tests here. Tests that ask for `loading_page` run first, while it loads.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from playwright.async_api import Browser, BrowserContext, async_playwright

from tests.browser.chromium import launch_options
from tests.browser.drawing import write_pictures
from tests.browser.images_server import ImageServer
from tests.browser.screen import Screen, health

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "test-results"
PAGE_WITHIN_S = 30
READY_WITHIN_S = 240


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What needs a loading app comes before what needs a ready one."""
    items.sort(key=lambda item: "loading_page" not in getattr(item, "fixturenames", ()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Let fixtures know how their test ended."""
    report: Any = yield
    item.stash.setdefault(OUTCOMES, {})[report.when] = report.failed
    return report


OUTCOMES: pytest.StashKey[dict[str, bool]] = pytest.StashKey()


@pytest.fixture(scope="package")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pictures whose sizes the tests know."""
    return write_pictures(tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="package")
def image_server(pictures: Path) -> Iterator[ImageServer]:
    """Serves the pictures, and counts who asked."""
    with ImageServer(pictures) as server:
        yield server


@pytest.fixture(scope="package")
def closed_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@pytest.fixture(scope="package")
def app(image_server: ImageServer, closed_port: int) -> Iterator[str]:
    """The address of `launch.py serve`; its page is up, its engines may be loading."""
    ports = f"80,443,{image_server.port},{closed_port}"
    with running_app("app", "--allow-private-urls", "--allow-ports", ports) as address:
        yield address


@pytest.fixture(scope="package")
def babbling_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An app whose model never ends an answer by itself, so that there is time to stop it."""
    model = endless_copy(ROOT / "assets" / "demo_model", tmp_path_factory.mktemp("endless"))
    with running_app("babbling_app", "--model", str(model), niceness=10) as address:
        wait_until_ready(address, "babbling_app")
        yield address


@contextmanager
def running_app(
    name: str, *flags: str, niceness: int = 0, environment: Mapping[str, str] | None = None
) -> Iterator[str]:
    """The app as a person starts it, on a free port; its log stays in `test-results`.

    An engine that never pauses would take two cores from the browser: `niceness` gives them back.
    """
    RESULTS.mkdir(exist_ok=True)
    log = RESULTS / f"{name}.log"
    own = {k: v for k, v in os.environ.items() if not k.upper().startswith("BIFOCAL_")}
    command = ["nice", "-n", str(niceness), sys.executable, "launch.py", "serve", "--port", "0"]
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, *flags],
            cwd=ROOT,
            env={**own, **(environment or {})},
            stdout=out,
            stderr=out,
            start_new_session=True,
        )
    try:
        yield _address(process, log)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def server_process(address: str) -> psutil.Process:
    """The app's own process, by the port that it listens on."""
    port = int(address.rpartition(":")[2])
    (pid,) = {
        c.pid
        for c in psutil.net_connections("tcp")
        if c.laddr and c.laddr.port == port and c.status == psutil.CONN_LISTEN
    }
    return psutil.Process(pid)


def endless_copy(model: Path, folder: Path) -> Path:
    """The model's files without the tokens that end an answer."""
    for file in model.iterdir():
        if file.suffix == ".safetensors":
            (folder / file.name).symlink_to(file)
        elif file.is_file():
            text = file.read_text("utf-8")
            text = re.sub(r'("eos_token(_id)?": )(\d+|"[^"]*"|\[[^]]*\])', r"\g<1>null", text)
            (folder / file.name).write_text(text, "utf-8")
    return folder


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + PAGE_WITHIN_S
    while time.monotonic() < deadline and process.poll() is None:
        if found := re.search(r"http://[\d.]+:\d+", log.read_text(errors="replace")):
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"the page did not come up:\n{log.read_text(errors='replace')[-3000:]}")


def wait_until_ready(address: str, name: str) -> None:
    """Until both engines are ready."""
    deadline = time.monotonic() + READY_WITHIN_S
    while time.monotonic() < deadline:
        status = httpx.get(f"{address}/health").json()["status"]
        if status == "ready":
            return
        assert status == "loading", (RESULTS / f"{name}.log").read_text(errors="replace")[-3000:]
        time.sleep(0.5)
    raise AssertionError("the engines did not become ready")


@pytest.fixture(scope="package")
def ready_app(app: str) -> str:
    """The app's address once both engines are ready."""
    wait_until_ready(app, "app")
    return app


@pytest.fixture(scope="package")
async def browser() -> AsyncIterator[Browser]:
    """A headless Chromium."""
    async with async_playwright() as playwright:
        options = await asyncio.to_thread(launch_options)
        browser = await playwright.chromium.launch(**options)
        yield browser
        await browser.close()


@pytest.fixture
async def context(
    browser: Browser, request: pytest.FixtureRequest
) -> AsyncIterator[BrowserContext]:
    """A fresh profile; when the test fails, its trace and last screen stay in `test-results`."""
    context = await browser.new_context(viewport={"width": 1280, "height": 860})
    # Without screenshots: filming every frame starves an engine that shares the cores.
    await context.tracing.start(snapshots=True)
    yield context
    name = re.sub(r"\W+", "-", request.node.name)
    if any(request.node.stash.get(OUTCOMES, {}).values()):
        await context.tracing.stop(path=RESULTS / f"{name}.zip")
        for page in context.pages:
            await page.screenshot(path=RESULTS / f"{name}.png", full_page=True)
    else:
        await context.tracing.stop()
    await context.close()


@pytest.fixture
async def other_context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A second person's profile."""
    context = await browser.new_context(viewport={"width": 1280, "height": 860})
    yield context
    await context.close()


@pytest.fixture
async def phone_context(browser: Browser) -> AsyncIterator[BrowserContext]:
    """A small window, with a finger for a mouse."""
    context = await browser.new_context(
        viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True
    )
    yield context
    await context.close()


@pytest.fixture
async def screen(context: BrowserContext, ready_app: str) -> Screen:
    """The page, its engines ready."""
    return await Screen.open(context, ready_app)


@pytest.fixture
async def loading_page(context: BrowserContext, app: str) -> Screen:
    """The page while the engines are still loading."""
    assert (await health(app))["status"] == "loading"
    return await Screen.open(context, app)
