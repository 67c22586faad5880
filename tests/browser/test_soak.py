"""Sixty-four programs at once, good, bad and impatient. `make soak` takes five minutes."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from tests.browser.conftest import RESULTS, server_process
from tests.browser.screen import health

SOAK_S = float(os.environ.get("SOAK_S", "12"))
CLIENTS = 64
DOCUMENTED = {"busy", "bad_request", "bad_setting", "url_refused", "image_unreadable"}
"""Codes that may come back here."""
STARVED_S = 120
MEMORY_GROWTH = 1.15
"""Of all processes, from a third of the time to the end; told apart from noise by `make soak`."""

pytestmark = pytest.mark.timeout(180 + SOAK_S)


@dataclass
class Tally:
    """What came of all the requests."""

    outcomes: Counter[str] = field(default_factory=Counter)
    waits: list[float] = field(default_factory=list)
    tokens: int = 0
    memory: list[float] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


def fields(rng: random.Random, pictures: list[str]) -> list[Any]:
    """The arguments of a good question, about a seen picture, a new one or none."""
    chosen = rng.sample(pictures, rng.choice((0, 1, 1, 1, 2)))
    images = [{"path": path, "meta": {"_type": "gradio.FileData"}} for path in chosen]
    question = rng.choice(("Describe this image.", "How many shapes are there?", "Who are you?"))
    return [images or None, "", question, "", 0, 1, rng.randint(8, 48), 0]


BAD = (
    [None, "", " ", "", 0, 1, 8, 0],
    [None, "ftp://example.org/a.png", "What is it?", "", 0, 1, 8, 0],
    [None, "", "Hi", "", 9, 1, 8, 0],
    [None, "", "Hi", "", 0, 1, 1.5, 0],
)


async def ask(http: httpx.AsyncClient, app: str, data: list[Any], leave_after: float) -> str:
    """One call, left early if it takes longer; the last event's kind and data."""
    url = f"{app}/gradio_api/call/ask"
    event = (await http.post(url, json={"data": data})).json()["event_id"]
    said: list[str] = []
    try:
        async with asyncio.timeout(leave_after), http.stream("GET", f"{url}/{event}") as answer:
            async for line in answer.aiter_lines():
                said = [*said[-3:], line]
    except TimeoutError:
        return "left"
    return "\n".join(said)


async def visit(app: str, seed: int, until: float, tally: Tally, pictures: list[str]) -> None:
    """One program: asks, waits for the answer, asks again."""
    rng = random.Random(seed)
    async with httpx.AsyncClient(timeout=STARVED_S + 30) as http:
        for _ in count():
            if time.monotonic() > until:
                return
            kind = rng.choices(("good", "bad", "left"), (0.7, 0.15, 0.15))[0]
            data = rng.choice(BAD) if kind == "bad" else fields(rng, pictures)
            leave_after = rng.uniform(0.05, 2) if kind == "left" else STARVED_S + 20
            began = time.monotonic()
            said = await ask(http, app, data, leave_after)
            note(tally, kind, said, time.monotonic() - began)


def note(tally: Tally, kind: str, said: str, spent: float) -> None:
    if said == "left":
        tally.outcomes["left"] += 1
    elif found := re.search(r"event: complete\s+data: (.*)", said):
        (result,) = json.loads(found[1])
        tally.outcomes[result["finish_reason"]] += 1
        tally.tokens += result["usage"]["completion_tokens"]
        tally.waits.append(spent)
    elif found := re.search(r"event: error\s+data: .*?([a-z_]+): ", said):
        tally.outcomes[found[1]] += 1
    else:
        tally.strange.append(said[-300:])


async def watch_memory(app: str, tally: Tally, until: float) -> None:
    """MB of the app and its engines, every second."""
    process = await asyncio.to_thread(server_process, app)
    while time.monotonic() < until:
        family = [process, *process.children(recursive=True)]
        tally.memory.append(sum(p.memory_info().rss for p in family) / 1e6)
        await asyncio.sleep(1)


async def upload(app: str, folder: Path, number: int) -> list[str]:
    """So many new pictures, on the server."""
    paths = []
    async with httpx.AsyncClient(timeout=60) as http:
        for i in range(number):
            path = folder / f"{i}.jpg"
            await asyncio.to_thread(Image.effect_noise((400, 300), 60).convert("RGB").save, path)
            data = await asyncio.to_thread(path.read_bytes)
            sent = await http.post(f"{app}/gradio_api/upload", files={"files": (path.name, data)})
            paths += sent.json()
    return paths


async def test_sixty_four_programs_at_once(ready_app: str, tmp_path: Path) -> None:
    pictures = await upload(ready_app, tmp_path, 40)
    tally, until = Tally(), time.monotonic() + SOAK_S
    await asyncio.gather(
        watch_memory(ready_app, tally, until),
        *(visit(ready_app, seed, until, tally, pictures) for seed in range(CLIENTS)),
    )
    third, last = tally.memory[len(tally.memory) // 3], tally.memory[-1]
    figures = {
        "seconds": SOAK_S, "outcomes": dict(tally.outcomes), "tokens": tally.tokens,
        "longest_wait_s": round(max(tally.waits), 1), "memory_mb": [round(third), round(last)],
    }  # fmt: skip
    await asyncio.to_thread((RESULTS / "soak.json").write_text, json.dumps(figures, indent=1))
    assert tally.strange == []
    assert set(tally.outcomes) <= DOCUMENTED | {"stop", "length", "left"}, figures
    assert tally.outcomes["stop"] + tally.outcomes["length"] >= CLIENTS / 2, figures
    assert max(tally.waits) < STARVED_S, figures
    if SOAK_S > 60:
        assert last < MEMORY_GROWTH * third, figures
    assert (await health(ready_app))["status"] == "ready"
