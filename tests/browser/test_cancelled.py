"""Requests given up at random points, in every way there is; nothing is left of them.

`make cancel` has a hundred of them, `make test` a few.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import signal
import sys
import threading
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from gradio_client import Client, handle_file
from playwright.async_api import BrowserContext, expect

from tests.browser.conftest import ROOT, server_process
from tests.browser.screen import ENDLESS, Screen, health

ALL = "CANCEL_ALL" in os.environ
CALL_ROUNDS, DROP_ROUNDS, TABS, INTERRUPTS = (9, 6, 12, 6) if ALL else (2, 1, 2, 1)
"""Rounds of four calls, rounds of six connections, tabs and Stops, and Ctrl-C: 102 or 19."""

pytestmark = pytest.mark.timeout(300)

LATEST_S = 1.2
"""A request is given up at a random moment before this: while it is fetched, encoded or decoded."""
GONE_WITHIN_S = 10
"""Nothing is left after this, on a machine that was busy with all of them at once."""


def ask_fields(picture: Path | None) -> dict[str, Any]:
    """An endless question, about a picture or none."""
    images = [handle_file(str(picture))] if picture else []
    return {"images": images, "prompt": ENDLESS, "temperature": 1, "max_tokens": 15000, "seed": 1}


async def values(app: str) -> dict[str, float]:
    """What is under way, by the app's own counters and by both engines'."""
    async with httpx.AsyncClient(timeout=30) as http:
        text = (await http.get(f"{app}/metrics")).text
    # Not vLLM's own gauges, which keep their last value when an engine has nothing left to do.
    names = re.compile(
        r"^(bifocal_(?:requests_(?:inside|running|waiting)|engine_unfinished\{.*\})) (\S+)$",
        re.MULTILINE,
    )
    found = {name: float(value) for name, value in names.findall(text)}
    assert len(found) == 3 + 2
    return found


async def held(app: str) -> Counter[str]:
    """Coroutines and open files of the app by kind, connections among them."""
    async with httpx.AsyncClient(timeout=30) as http:
        text = (await http.get(f"{app}/metrics")).text
    found = re.search(r"^bifocal_tasks (\S+)$", text, re.MULTILINE)
    assert found
    server = await asyncio.to_thread(server_process, app)
    files = await asyncio.to_thread(open_files, server)
    return Counter({"coroutine": int(float(found[1])), **files})


def open_files(process: psutil.Process) -> Counter[str]:
    """What a process holds open: paths, and kinds of what has none."""
    found: Counter[str] = Counter()
    for entry in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            name = str(entry.readlink())
            found[name if name.startswith("anon_inode") else name.partition(":[")[0]] += 1
    return found


async def nothing_left(app: str) -> None:
    """Until no request is anywhere."""
    found: dict[str, float] = {}
    for _ in range(10 * GONE_WITHIN_S):
        found = await values(app)
        if not any(found.values()):
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"something is left: {found}")


async def answered(app: str) -> None:
    """The next question is answered."""
    client = await asyncio.to_thread(Client, app, verbose=False)
    fields = {**ask_fields(None), "max_tokens": 4}
    result = await asyncio.to_thread(client.predict, **fields, api_name="/ask")
    await asyncio.to_thread(client.close)
    assert result["usage"]["completion_tokens"] == 4


@pytest.fixture(scope="module")
def at_rest() -> Counter[str]:
    """What the app holds after the first test, when its pools of threads are full."""
    return Counter()


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Path | None]:
    """Pictures that have not been encoded yet, and none."""
    from PIL import Image

    folder = tmp_path_factory.mktemp("many")
    made: list[Path | None] = []
    for number in range(60):
        path = folder / f"{number}.png"
        Image.effect_noise((640, 480), 90).convert("RGB").save(path)
        made += [path] if number % 3 else [path, None]
    return made


async def test_cancelled_calls(
    babbling_app: str, at_rest: Counter[str], many: Sequence[Path | None]
) -> None:
    """`job.cancel()` of gradio_client."""
    rng, never = random.Random(1), threading.Event()

    def call(client: Client, picture: Path | None, wait: float) -> None:
        job = client.submit(**ask_fields(picture), api_name="/ask")
        # Until the app has said which event it is, gradio_client has nothing to cancel.
        while job.communicator and not job.communicator.event_id:
            never.wait(0.01)
        never.wait(wait)
        job.cancel()

    clients = [await asyncio.to_thread(Client, babbling_app, verbose=False) for _ in range(4)]
    for start in range(0, 4 * CALL_ROUNDS, 4):
        await asyncio.gather(
            *(
                asyncio.to_thread(call, client, many[start + i], rng.uniform(0, LATEST_S))
                for i, client in enumerate(clients)
            )
        )
    for client in clients:
        await asyncio.to_thread(client.close)
    await nothing_left(babbling_app)
    await answered(babbling_app)
    at_rest.update(await held(babbling_app))


async def test_dropped_connections(babbling_app: str, many: Sequence[Path | None]) -> None:
    """A program whose connection breaks while it listens."""
    rng = random.Random(2)

    async def drop(picture: Path | None) -> None:
        async with httpx.AsyncClient(timeout=60) as http:
            images = []
            if picture:
                upload = {"files": (picture.name, await asyncio.to_thread(picture.read_bytes))}
                sent = await http.post(f"{babbling_app}/gradio_api/upload", files=upload)
                meta = {"_type": "gradio.FileData"}
                images = [{"path": sent.json()[0], "orig_name": picture.name, "meta": meta}]
            url = f"{babbling_app}/gradio_api/call/ask"
            data = [images or None, "", ENDLESS, "", 1, 1, 15000, 1]
            event = (await http.post(url, json={"data": data})).json()["event_id"]
            try:
                async with asyncio.timeout(rng.uniform(0.05, LATEST_S)):
                    async with http.stream("GET", f"{url}/{event}") as answer:
                        async for _ in answer.aiter_bytes():
                            pass
            except TimeoutError:
                return
            raise AssertionError("the answer ended before the connection")

    for start in range(36, 36 + 6 * DROP_ROUNDS, 6):
        await asyncio.gather(*map(drop, many[start : start + 6]))
    await nothing_left(babbling_app)
    await answered(babbling_app)


async def test_stop_and_closed_tabs(
    context: BrowserContext, other_context: BrowserContext, babbling_app: str
) -> None:
    """Stop, again and again in one tab, while others are opened and closed."""
    rng = random.Random(3)

    async def stops() -> None:
        screen = await Screen.open(context, babbling_app)
        await screen.ready_to_babble()
        for _ in range(TABS):
            await screen.ask(ENDLESS)
            await expect(screen.stop).to_be_visible()
            await screen.page.wait_for_timeout(1000 * rng.uniform(0, LATEST_S))
            await screen.stop.click()
            await expect(screen.send).to_be_visible()

    async def leaves() -> None:
        for _ in range(TABS):
            screen = await Screen.open(other_context, babbling_app)
            await screen.ready_to_babble()
            await screen.ask(ENDLESS)
            await screen.page.wait_for_timeout(1000 * rng.uniform(0, LATEST_S))
            await screen.page.close()

    await asyncio.gather(stops(), leaves())
    await nothing_left(babbling_app)
    await answered(babbling_app)


async def test_interrupted_at_the_terminal(babbling_app: str) -> None:
    """Ctrl-C in `ask --server`: status 130, and the app is told."""
    rng = random.Random(4)
    command = ["launch.py", "ask", "--server", babbling_app, "--prompt", ENDLESS]
    options = ["--max-tokens", "15000"]
    for _ in range(INTERRUPTS):
        process = await asyncio.create_subprocess_exec(
            sys.executable, *command, *options, cwd=ROOT, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert process.stdout
        async with asyncio.timeout(60):
            first = await process.stdout.read(1)
            assert first, await process.communicate()
            await asyncio.sleep(rng.uniform(0, LATEST_S))
            os.killpg(process.pid, signal.SIGINT)
            _, errors = await process.communicate()
        assert process.returncode == 130, errors.decode()
        assert b"Traceback" not in errors
    await nothing_left(babbling_app)
    await answered(babbling_app)
    assert (await health(babbling_app))["status"] == "ready"


async def test_no_task_and_no_file_is_left(babbling_app: str, at_rest: Counter[str]) -> None:
    """After all of the above, when the last connections have ended."""
    assert at_rest
    more: Counter[str] = Counter()
    for _ in range(10 * GONE_WITHIN_S):
        more = await held(babbling_app) - at_rest
        if not more:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"left over: {more}, where there were {at_rest}")
