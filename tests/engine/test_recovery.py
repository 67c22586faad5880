"""Engine processes that are killed, stopped or die while they load: all comes back by itself."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
import pytest_asyncio
from PIL import Image

from backend.engines.environment import prepare_environment
from backend.errors import EngineError
from backend.service import Bifocal
from backend.settings import read_settings, repository
from backend.types import (
    ChatRequest,
    DoneEvent,
    Event,
    ImageInput,
    Result,
    Sampling,
    StageEvent,
    TokenEvent,
    Turn,
)
from tests.browser.conftest import endless_copy
from tests.unit.eventually import until

pytestmark = pytest.mark.timeout(240)

NOTICED_S = 8
"""A killed or stopped engine is known within this time on a loaded machine."""
BACK_S = 120


@pytest_asyncio.fixture(scope="module")
async def app(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Bifocal]:
    """The bundled model without an end to its answers; both engines are killed while they load."""
    folder = tmp_path_factory.mktemp("endless")
    model = endless_copy(repository() / "assets" / "demo_model", folder)
    backend = Bifocal(read_settings({"model": str(model), "target": "cpu"}))
    prepare_environment(backend.plan, os.environ)
    before = {child.pid for child in multiprocessing.active_children()}
    backend.start()
    try:
        await kill_while_loading(before)
        async with asyncio.timeout(BACK_S):
            await backend.ready()
        yield backend
    finally:
        await backend.shutdown()
    assert {child.pid for child in multiprocessing.active_children()} <= before


async def kill_while_loading(others: set[int | None]) -> None:
    """Kill each of the two engine processes some time after it has begun."""
    killed: set[int | None] = set()
    async with asyncio.timeout(BACK_S):
        while len(killed) < 2:
            await asyncio.sleep(0.5)
            children = {child.pid for child in multiprocessing.active_children()}
            for pid in children - others - killed:
                os.kill(pid or 0, signal.SIGKILL)
                killed.add(pid)


@pytest.fixture
def picture(tmp_path: Path) -> ImageInput:
    """A picture that no other test has had encoded."""
    path = tmp_path / "picture.png"
    Image.effect_noise((64, 48), 80).convert("RGB").save(path)
    return ImageInput(str(path), "path")


def question(*images: ImageInput, tokens: int = 8) -> ChatRequest:
    return ChatRequest((Turn("user", "Describe this image.", images),), Sampling(tokens))


async def answer(app: Bifocal, request: ChatRequest) -> Result:
    async with asyncio.timeout(BACK_S):
        events = [event async for event in app.stream(request)]
    done = events[-1]
    assert isinstance(done, DoneEvent)
    return done.result


async def pid_of(app: Bifocal, role: str) -> int:
    engines = await app.ready()
    engine = engines.encoder if role == "vision" else engines.decoder
    (pid,) = engine._pulse._pids  # type: ignore[union-attr]
    return int(pid)


def state_of(app: Bifocal, role: str) -> str:
    return str(app.health().as_json()["engines"][role])


async def noticed(app: Bifocal, role: str) -> None:
    await until(lambda: state_of(app, role) == "restarting", NOTICED_S)


async def back(app: Bifocal, role: str) -> float:
    """Until the engine is ready again; the seconds it took."""
    started = time.monotonic()
    await until(lambda: state_of(app, role) in ("ready", "busy"), BACK_S)
    return time.monotonic() - started


async def listen(app: Bifocal, request: ChatRequest, heard: list[Event]) -> None:
    async for event in app.stream(request):
        heard.append(event)


async def until_heard(heard: list[Event], kind: type[Event], stage: str = "") -> None:
    await until(
        lambda: any(isinstance(e, kind) and stage in ("", getattr(e, "stage", "")) for e in heard),
        within=60,
    )


async def test_both_were_killed_while_they_loaded(app: Bifocal, picture: ImageInput) -> None:
    """The fixture killed them, and nobody did anything about it."""
    assert (await answer(app, question(picture))).usage.completion_tokens == 8


@pytest.mark.parametrize(("role", "other"), [("vision", "language"), ("language", "vision")])
async def test_killed_while_idle(app: Bifocal, picture: ImageInput, role: str, other: str) -> None:
    pids = {name: await pid_of(app, name) for name in (role, other)}
    os.kill(pids[role], signal.SIGKILL)
    await noticed(app, role)
    assert app.health().status == "degraded"
    assert state_of(app, other) == "ready"
    # Asked meanwhile, it waits and is answered.
    result = await answer(app, question(picture))
    assert result.usage.completion_tokens == 8
    assert await pid_of(app, other) == pids[other]
    assert await pid_of(app, role) != pids[role]


async def test_the_encoder_is_killed_while_it_encodes(app: Bifocal, tmp_path: Path) -> None:
    """Who waits for it is told; who is being answered is not disturbed."""
    pictures = []
    for number in range(6):
        path = tmp_path / f"{number}.png"
        Image.effect_noise((1280, 728), 80).convert("RGB").save(path)
        pictures.append(ImageInput(str(path), "path"))
    heard: list[Event] = []
    other = asyncio.create_task(listen(app, question(tokens=600), heard))
    await until_heard(heard, TokenEvent)
    waiting: list[Event] = []
    asking = asyncio.create_task(listen(app, question(*pictures), waiting))
    await until_heard(waiting, StageEvent, "encode")
    os.kill(await pid_of(app, "vision"), signal.SIGKILL)
    with pytest.raises(EngineError, match=r"vision encoder stopped working.*ask once more"):
        await asking
    await other
    assert isinstance(heard[-1], DoneEvent)
    assert heard[-1].result.usage.completion_tokens == 600
    await back(app, "vision")
    assert (await answer(app, question(pictures[0]))).usage.completion_tokens == 8


async def test_the_decoder_is_killed_while_it_decodes(app: Bifocal, picture: ImageInput) -> None:
    """Everybody who was being answered is told, and the embedding is not lost."""
    heard: list[list[Event]] = [[], []]
    asking = [asyncio.create_task(listen(app, question(picture, tokens=4000), h)) for h in heard]
    for events in heard:
        await until_heard(events, TokenEvent)
    os.kill(await pid_of(app, "language"), signal.SIGKILL)
    for task in asking:
        with pytest.raises(EngineError, match=r"language decoder stopped working.*\(Request "):
            async with asyncio.timeout(NOTICED_S):
                await task
    result = await answer(app, question(picture))
    assert result.images[0].cached
    assert result.timings.encode_s == 0


async def test_a_decoder_that_hangs_is_replaced(app: Bifocal) -> None:
    heard: list[Event] = []
    asking = asyncio.create_task(listen(app, question(tokens=4000), heard))
    await until_heard(heard, TokenEvent)
    pid = await pid_of(app, "language")
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(EngineError, match="stopped working"):
        async with asyncio.timeout(NOTICED_S + 5):
            await asking
    assert (await answer(app, question())).usage.completion_tokens == 8
    assert not psutil.pid_exists(pid)
