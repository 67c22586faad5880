"""Thousands of calls that no program of ours makes. `make fuzz` has 5,000, `make test` a few."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from gradio_client import Client

from tests.browser.conftest import RESULTS
from tests.browser.malformed import SECRETS, Call, malformed
from tests.browser.screen import health

CALLS = int(os.environ.get("FUZZ_CALLS", "300"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
AT_ONCE = 12
READ_S = 20
"""An endless answer is left after this; none of these should have one."""

pytestmark = pytest.mark.timeout(60 + CALLS)


class Fuzzer:
    """Sends calls and looks at what comes back."""

    def __init__(self, app: str, http: httpx.AsyncClient) -> None:
        self.app, self.http = app, http
        self.statuses: Counter[int] = Counter()
        self.faults: list[str] = []
        self.events: list[str] = []

    async def send(self, number: int) -> None:
        call = malformed(SEED, number)
        try:
            # Of the whole exchange: a stream that only beats would never run out of time by itself.
            async with asyncio.timeout(READ_S):
                status, body = await self._exchange(call)
        except (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeEncodeError):
            return  # such a call cannot even be sent
        except (httpx.ReadTimeout, TimeoutError):
            if "queue/data" not in call.path:  # the stream of a page, which has no end
                self._fault(number, call, "no answer")
            return
        self.statuses[status] += 1
        if status >= 500:
            self._fault(number, call, f"status {status}: {body[:200]!r}")
        if b"Traceback" in body or b'File "' in body:
            self._fault(number, call, f"a stack trace: {body[:500]!r}")
        if any(secret in body for secret in SECRETS):
            self._fault(number, call, f"a file of this machine: {body[:200]!r}")

    async def _exchange(self, call: Call) -> tuple[int, bytes]:
        answer = await self.http.request(
            call.method, self.app + call.path, content=call.body, headers=call.headers
        )
        body = answer.content
        if call.streams and answer.status_code == 200 and "event_id" in answer.text:
            body += await self._events(f"{self.app}{call.path}/{answer.json()['event_id']}")
        return answer.status_code, body

    async def _events(self, url: str) -> bytes:
        if self.events and len(self.events) % 10 == 0:
            # An event that is over, asked for again: Gradio keeps such a stream open.
            with suppress(httpx.ReadTimeout, TimeoutError):
                async with asyncio.timeout(1):
                    await self.http.get(self.events[0])
        self.events.append(url)
        return (await self.http.get(url)).content

    def _fault(self, number: int, call: Call, what: str) -> None:
        self.faults.append(f"call {number}, {call.method} {call.path[:80]}: {what}")


async def test_malformed_calls(ready_app: str, pictures: Path) -> None:
    log = RESULTS / "app.log"
    before = len(await asyncio.to_thread(log.read_bytes))
    limits = httpx.Limits(max_connections=AT_ONCE)
    async with httpx.AsyncClient(timeout=READ_S, limits=limits) as http:
        fuzzer, gate = Fuzzer(ready_app, http), asyncio.Semaphore(AT_ONCE)

        async def one(number: int) -> None:
            async with gate:
                await fuzzer.send(number)

        await asyncio.gather(*map(one, range(CALLS)))
    assert fuzzer.faults == []
    assert fuzzer.statuses.total() > 0.9 * CALLS
    said = (await asyncio.to_thread(log.read_bytes))[before:].decode(errors="replace")
    assert "Traceback" not in said, said[-4000:]
    assert (await health(ready_app))["status"] == "ready"
    client = await asyncio.to_thread(Client, ready_app, verbose=False)
    answer = await asyncio.to_thread(client.predict, prompt="Who are you?", api_name="/ask")
    assert "small demo model" in answer["text"]
