"""The supervisor: engines load in the background, their state is known, they end with the app."""

import asyncio
import json
from typing import Any

import pytest

from backend import keeper as keeping
from backend import supervisor as module
from backend.errors import EngineError
from backend.plan import Plan, make_plan
from backend.settings import read_settings
from backend.supervisor import Supervisor

from .fakes import FakeDecoder, FakeEncoder, FakeLoader


class Under:
    """A supervisor and the fake engines it supervises."""

    def __init__(self, plan: Plan) -> None:
        self.encoder, self.decoder = FakeEncoder(), FakeDecoder(None)
        self.loader = FakeLoader(None if plan.topology == "fused" else self.encoder, self.decoder)
        self.supervisor = Supervisor(plan, self.loader)
        self.abandoned = 0

    def abandon(self) -> None:
        self.abandoned += 1

    @property
    def json(self) -> Any:
        return self.supervisor.health().as_json()

    async def until(self, status: str) -> None:
        async with asyncio.timeout(10):
            while self.json["status"] != status:  # noqa: ASYNC110
                await asyncio.sleep(0.005)


@pytest.fixture
def under(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Under:
    monkeypatch.setattr(keeping, "HEALTH_INTERVAL_S", 0.01)
    monkeypatch.setattr(keeping, "PAUSES_S", (0.0,))
    made = Under(plan)
    monkeypatch.setattr(module, "abandon_engines", made.abandon)
    return made


async def test_before_it_is_started(under: Under) -> None:
    assert under.json == {
        "status": "loading",
        "engines": {"vision": "loading", "language": "loading"},
        "model": "bifocal-demo",
        "target": "cpu",
        "topology": "split",
        "details": {"vision": "not started yet", "language": "not started yet"},
    }
    assert under.supervisor.is_waiting("language")
    assert under.loader.calls == 0


async def test_loading_then_ready(under: Under) -> None:
    under.loader.gate.clear()
    under.supervisor.start()
    await asyncio.sleep(0.05)
    assert under.json["status"] == "loading"
    assert {e.detail for e in under.supervisor.health().engines} == {"loading weights"}
    under.loader.gate.set()
    engines = await under.supervisor.ready()
    assert engines.encoder is under.encoder
    assert engines.decoder is under.decoder
    assert under.json["status"] == "ready"
    assert under.json["engines"] == {"vision": "ready", "language": "ready"}
    assert not under.supervisor.is_waiting("language")
    await under.supervisor.shutdown()


async def test_loading_does_not_hold_the_event_loop(under: Under) -> None:
    """The page answers meanwhile."""
    under.loader.gate.clear()
    under.supervisor.start()
    async with asyncio.timeout(1):
        for _ in range(20):
            await asyncio.sleep(0.001)
    under.loader.gate.set()
    await under.supervisor.shutdown()


async def test_everyone_who_waits_is_told(under: Under) -> None:
    under.loader.gate.clear()
    under.supervisor.start()
    waiting = [asyncio.create_task(under.supervisor.ready()) for _ in range(5)]
    await asyncio.sleep(0.01)
    under.loader.gate.set()
    async with asyncio.timeout(5):
        await asyncio.gather(*waiting)
    await under.supervisor.shutdown()


async def test_a_fused_engine_is_one_key(under: Under) -> None:
    fused = Under(make_plan(read_settings({"target": "cpu", "topology": "fused"})))
    fused.supervisor.start()
    await fused.supervisor.ready()
    assert fused.json["engines"] == {"fused": "ready"}
    assert fused.json["topology"] == "fused"
    with fused.supervisor.running("language"):
        assert fused.json["engines"] == {"fused": "busy"}
    await fused.supervisor.shutdown()
    assert fused.decoder.ended == 1


async def test_busy_while_a_request_is_in_the_engine(under: Under) -> None:
    under.supervisor.start()
    await under.supervisor.ready()
    with under.supervisor.running("vision"), under.supervisor.running("vision"):
        assert under.json["engines"] == {"vision": "busy", "language": "ready"}
        assert under.json["status"] == "ready"
        vision = under.supervisor.health().engines[0]
        assert (vision.running, vision.capacity, vision.devices) == (2, 4, (0,))
    assert under.json["engines"]["vision"] == "ready"
    await under.supervisor.shutdown()


async def test_a_request_that_fails_is_no_longer_counted(under: Under) -> None:
    under.supervisor.start()
    await under.supervisor.ready()
    with pytest.raises(ValueError, match="no"), under.supervisor.running("language"):
        raise ValueError("no")
    assert under.json["engines"]["language"] == "ready"
    await under.supervisor.shutdown()


async def test_a_failed_load(under: Under) -> None:
    under.loader.failure = EngineError("The vision engine did not start: no memory.")
    under.supervisor.start()
    with pytest.raises(EngineError, match="no memory"):
        await under.supervisor.ready()
    assert under.json["status"] == "failed"
    assert "no memory" in under.supervisor.health().engines[0].detail
    assert not under.supervisor.is_waiting("language")
    await under.supervisor.shutdown()


async def test_a_load_that_fails_in_an_unexpected_way(under: Under) -> None:
    """Anything but our own errors ended the task, and everyone waited for ever."""
    under.loader.failure = RuntimeError("internal detail")
    under.supervisor.start()
    async with asyncio.timeout(5):
        with pytest.raises(EngineError, match="RuntimeError"):
            await under.supervisor.ready()
    assert under.json["status"] == "failed"
    await under.supervisor.shutdown()


async def test_shutdown_ends_both_engines_once(under: Under) -> None:
    under.supervisor.start()
    await under.supervisor.ready()
    await under.supervisor.shutdown()
    await under.supervisor.shutdown()
    assert (under.encoder.ended, under.decoder.ended) == (1, 1)


async def test_shutdown_before_start(under: Under) -> None:
    await under.supervisor.shutdown()
    assert under.loader.calls == 0


async def stop_while_loading(under: Under) -> None:
    """Shut down, and let the loader go on only once that has begun."""
    under.loader.gate.clear()
    under.supervisor.start()
    await asyncio.sleep(0.02)
    ending = asyncio.create_task(under.supervisor.shutdown())
    await asyncio.sleep(0.02)
    under.loader.gate.set()
    async with asyncio.timeout(5):
        await ending


async def test_shutdown_while_loading_gives_the_engines_up(under: Under) -> None:
    """A loader can only be stopped where it reports; until then its processes are killed."""
    await stop_while_loading(under)
    assert under.abandoned >= 1
    assert under.loader.stopped


async def test_shutdown_while_loading_ends_what_still_comes_up(under: Under) -> None:
    """The engines of a loader that was past its last report must not outlive the app."""
    under.loader.silent = True
    await stop_while_loading(under)
    assert (under.encoder.ended, under.decoder.ended) == (1, 1)


async def test_shutdown_while_loading_that_fails(under: Under) -> None:
    under.loader.failure = EngineError("no memory")
    await stop_while_loading(under)
    assert under.encoder.ended == 0


async def test_health_can_be_written_as_json(under: Under) -> None:
    json.dumps(under.json)


async def test_whoever_waits_is_told_that_the_app_ends(under: Under) -> None:
    """A request that waits for engines must not wait for ever once they will not come."""
    waiting = asyncio.create_task(under.supervisor.ready())
    await asyncio.sleep(0)
    await under.supervisor.shutdown()
    with pytest.raises(EngineError, match="shutting down"):
        async with asyncio.timeout(5):
            await waiting
