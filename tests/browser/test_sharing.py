"""`--share` as a person starts it: the link, the login, and the app without a link.

The failure is Gradio's own on a service that is not there. For the success a program stands in for
the one that Gradio would download; all else, from the command line to the page, is real.
"""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from axe_playwright_python.async_playwright import Axe
from playwright.async_api import BrowserContext, Page, expect

from tests.browser.conftest import RESULTS, running_app
from tests.browser.screen import Screen

# Fails to start engines at once, which is all the same to the link.
NO_ENGINES = ("--target", "qaic")
TOLD_WITHIN_S = 15
LOGIN = re.compile(r"\(user (\S+), password (\S+)\)")

STAND_IN = """#!{python}
import sys
port = sys.argv[sys.argv.index("-l") + 1]
print(f"start proxy success: http://localhost:{{port}}", flush=True)
open({pid!r}, "w").write(str(__import__("os").getpid()))
sys.stdin.read()
"""


@contextmanager
def sharing_app(name: str, *flags: str, variables: dict[str, str]) -> Iterator[tuple[str, Path]]:
    """The app with `--share`; its address and its log."""
    before = {variable: os.environ.get(variable) for variable in variables}
    os.environ.update(variables)
    try:
        with running_app(name, "--share", *NO_ENGINES, *flags) as address:
            yield address, RESULTS / f"{name}.log"
    finally:
        for variable, value in before.items():
            os.environ.pop(variable) if value is None else os.environ.update({variable: value})


def told(log: Path, pattern: str) -> str:
    """All that was printed, once `pattern` is in it."""
    deadline = time.monotonic() + TOLD_WITHIN_S
    while not re.search(pattern, text := log.read_text(errors="replace")):
        assert time.monotonic() < deadline, text
        time.sleep(0.1)
    return text


async def log_in(page: Page, user: str, password: str) -> None:
    await page.get_by_label("username").fill(user)
    await page.get_by_label("password").fill(password)
    await page.get_by_role("button", name="Login").click()


async def test_a_link_is_printed_and_shown_and_asks_for_the_password(
    context: BrowserContext, tmp_path: Path
) -> None:
    from gradio.tunneling import BINARY_FILENAME

    program = tmp_path / "gradio" / "frpc" / BINARY_FILENAME
    program.parent.mkdir(parents=True)
    pid = tmp_path / "pid"
    program.write_text(STAND_IN.format(python=sys.executable, pid=str(pid)))
    program.chmod(0o755)
    variables = {"HF_HOME": str(tmp_path), "GRADIO_SHARE_SERVER_ADDRESS": "127.0.0.1:9"}
    with sharing_app("shared_app", variables=variables) as (address, log):
        link = f"http://localhost:{address.rpartition(':')[2]}"
        text = told(log, "Share link")
        assert text.count(link) == 1
        user, password = LOGIN.findall(text)[0]
        assert len(LOGIN.findall(text)) == 1

        page = await context.new_page()
        await page.goto(link)
        await expect(page).to_have_title("Bifocal: log in")
        await expect(page.get_by_text("on the terminal where Bifocal was started")).to_be_visible()
        found = (await Axe().run(page)).response["violations"]
        assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []
        await log_in(page, user, "wrong")
        await expect(page.get_by_text("Incorrect Credentials")).to_be_visible()
        await log_in(page, user, password)
        screen = Screen(page)
        await expect(screen.prompt).to_be_visible()
        await expect(page.get_by_role("link", name=link)).to_have_attribute("href", link)
        async with httpx.AsyncClient() as http:
            assert set((await http.get(f"{address}/health")).json()) == {"status"}
            assert (await http.get(f"{address}/config")).status_code == 401
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)


async def test_without_a_tunnel_the_app_says_why_and_goes_on(context: BrowserContext) -> None:
    # Where there is a network, Gradio's service must not be asked by a test.
    variables = {"https_proxy": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}
    flags = ("--auth", "ann:a,b", "--host", "127.0.0.1")
    started = time.monotonic()
    with sharing_app("unshared_app", *flags, variables=variables) as (address, log):
        text = told(log, "No share link")
        assert time.monotonic() - started < TOLD_WITHIN_S + 10
        assert "cannot be reached" in text
        assert "a,b" not in text
        page = await context.new_page()
        await page.goto(address)
        await log_in(page, "ann", "a,b")
        await expect(page.get_by_text("No share link")).to_contain_text("goes on here")
        status = page.locator("#bf-status").get_by_role("status")
        await expect(status).to_contain_text("failed")
