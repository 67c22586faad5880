"""The bench's side `page`: the app served here, asked through its web API from another process."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from dataclasses import asdict, replace

import uvicorn

from backend.bench.figures import Answer
from backend.bench.question import Question, Side
from backend.client import LOCAL, Client
from backend.errors import EngineError
from backend.service import Bifocal
from backend.types import ChatRequest, Event
from ui.command_line.serve import listen
from ui.disk import own_folder, upload_folder

ANSWER_BYTES = 2**20
"""The longest line that the other process writes."""
ENDED = "The process that asks the web API has ended."


class PageSide:
    """Hands questions to the process of the clients, and takes timed answers from it."""

    def __init__(self, clients: asyncio.subprocess.Process) -> None:
        assert clients.stdin and clients.stdout
        self._to, self._from = clients.stdin, clients.stdout
        self._waiting: dict[int, asyncio.Future[Answer]] = {}
        self._asked = 0
        self._reading = asyncio.create_task(self._read())

    async def ask(self, question: Question) -> Answer:
        """The answer as a client of the web API sees it, timed there. Raises EngineError."""
        if self._reading.done():
            raise EngineError(ENDED)
        self._asked += 1
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[self._asked] = future
        asked = {**asdict(question), "pictures": list(map(str, question.pictures))}
        self._to.write(f"{json.dumps({'number': self._asked, **asked})}\n".encode())
        return await future

    async def _read(self) -> None:
        while line := await self._from.readline():
            told = json.loads(line)
            future = self._waiting.pop(told.pop("number"))
            if "error" in told:
                future.set_exception(EngineError(f"The web API answered: {told['error']}"))
            else:
                future.set_result(Answer(**told))
        for future in self._waiting.values():
            future.set_exception(EngineError(ENDED))


class _ToTheLastToken(Bifocal):
    """The same backend, answering on to the last token; the web API has no such parameter."""

    def __init__(self, backend: Bifocal) -> None:
        self.__dict__ = backend.__dict__

    async def stream(
        self, request: ChatRequest, client: Client = LOCAL
    ) -> AsyncGenerator[Event, None]:
        endless = replace(request, sampling=replace(request.sampling, ignore_eos=True))
        async for event in super().stream(endless, client):
            yield event


async def open_page(backend: Bifocal, askers: int, stack: AsyncExitStack) -> Side:
    """Serve the backend, which is ready, as `serve` does, and begin a process of so many clients.

    Raises EngineError where either does not come up.
    """
    os.environ["GRADIO_ANALYTICS_ENABLED"] = "False"
    stack.enter_context(own_folder(upload_folder()))
    from ui.app import create_app

    listening = listen("127.0.0.1", 0)
    app = create_app(_ToTheLastToken(backend))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
    serving = asyncio.create_task(server.serve(sockets=[listening]))

    async def stop() -> None:
        server.should_exit = True
        await serving

    stack.push_async_callback(stop)
    address = f"http://127.0.0.1:{listening.getsockname()[1]}"
    clients = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "ui.command_line.bench_clients", address, str(askers),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=ANSWER_BYTES,
    )  # fmt: skip
    stack.push_async_callback(_end, clients)
    assert clients.stdout
    if not await clients.stdout.readline():
        raise EngineError("The process that asks the web API did not come up.")
    return PageSide(clients)


async def _end(clients: asyncio.subprocess.Process) -> None:
    if clients.returncode is None:
        clients.kill()
    await clients.wait()
