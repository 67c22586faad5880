"""An engine that dies is started again, the other one stays up, and whoever waits is answered."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import pytest

from backend import keeper as module
from backend.errors import EngineError, ModelError
from backend.plan import Plan, make_plan
from backend.settings import read_settings
from backend.supervisor import Supervisor

from .eventually import until
from .fakes import FakeDecoder, FakeEncoder, FakeEngine, FakeLoader

KILLED = EngineError("The process was ended from outside.", may_pass=True)
BROKEN = EngineError("The weights are broken.")


class Kept:
    """A supervisor over fake engines, and the state of both."""

    def __init__(self, plan: Plan) -> None:
        self.encoder, self.decoder = FakeEncoder(), FakeDecoder(None)
        self.loader = FakeLoader(self.encoder, self.decoder)
        self.supervisor = Supervisor(plan, self.loader)

    def engine(self, role: str) -> FakeEngine:
        return self.encoder if role == "vision" else self.decoder

    @property
    def states(self) -> dict[str, str]:
        engines: dict[str, str] = self.supervisor.health().as_json()["engines"]
        return engines

    @property
    def status(self) -> str:
        return self.supervisor.health().status

    async def until(self, role: str, *states: str) -> None:
        await until(lambda: self.states[role] in states)

    async def dies(self, role: str, message: str = "It stopped working.") -> None:
        """Until the death of the engine has been noticed."""
        ended = self.engine(role).ended
        self.engine(role).dead = EngineError(message)
        await until(lambda: self.engine(role).ended > ended)
        self.engine(role).dead = None


@pytest.fixture
async def kept(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(module, "HEALTH_INTERVAL_S", 0.01)
    monkeypatch.setattr(module, "PAUSES_S", (0.0, 0.01))
    monkeypatch.setattr(module, "TELL_WITHIN_S", 0.2)
    monkeypatch.setattr("backend.supervisor.abandon_engines", lambda: None)
    made = Kept(plan)
    made.supervisor.start()
    yield made
    made.loader.gate.set()
    await made.supervisor.shutdown()


@pytest.mark.parametrize(("role", "other"), [("vision", "language"), ("language", "vision")])
async def test_a_dead_engine_is_started_again_and_the_other_stays(
    kept: Kept, role: str, other: str
) -> None:
    await kept.supervisor.ready()
    kept.loader.gate.clear()
    await kept.dies(role)
    assert kept.states == {role: "restarting", other: "ready"}
    assert kept.status == "degraded"
    kept.loader.gate.set()
    await kept.until(role, "ready")
    assert kept.status == "ready"
    assert kept.loader.loaded.count(role) == 2
    assert kept.loader.loaded.count(other) == 1
    assert (kept.engine(role).killed, kept.engine(role).ended) == (1, 1)
    assert kept.engine(other).ended == 0
    assert kept.supervisor.restarts() == {role: 1, other: 0}


async def test_whoever_asks_meanwhile_waits_for_the_next_engine(kept: Kept) -> None:
    await kept.supervisor.ready()
    kept.loader.gate.clear()
    await kept.dies("language")
    waiting = asyncio.create_task(kept.supervisor.decoder())
    done, _ = await asyncio.wait([waiting], timeout=0.05)
    assert not done
    kept.loader.gate.set()
    async with asyncio.timeout(10):
        assert await waiting is kept.decoder


async def test_whoever_asks_in_the_moment_of_a_death_waits_for_the_next_engine(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine is still being looked at, but a request has just died with it."""
    look = kept.decoder.check_health

    async def look_slowly() -> None:
        await asyncio.sleep(0.05)
        await look()

    monkeypatch.setattr(kept.decoder, "check_health", look_slowly)
    await kept.supervisor.ready()
    first = await kept.supervisor.decoder()
    kept.loader.gate.clear()
    kept.decoder.dead = EngineError("It stopped working.")
    with pytest.raises(EngineError), kept.supervisor.running("language"):
        raise EngineError("It stopped working.")
    waiting = asyncio.create_task(kept.supervisor.decoder())
    await until(lambda: first.ended)  # type: ignore[attr-defined]
    assert not waiting.done()
    kept.decoder.dead = None
    kept.loader.gate.set()
    async with asyncio.timeout(10):
        assert await waiting is kept.decoder


async def test_an_engine_that_failed_one_request_alone_is_asked_on(kept: Kept) -> None:
    await kept.supervisor.ready()
    with pytest.raises(EngineError), kept.supervisor.running("language"):
        raise EngineError("This question was too much.")
    async with asyncio.timeout(10):
        assert await kept.supervisor.decoder() is kept.decoder
    assert kept.decoder.ended == 0


async def test_a_request_that_fails_has_its_engine_looked_at_at_once(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "HEALTH_INTERVAL_S", 60)
    await kept.supervisor.ready()
    await asyncio.sleep(0.05)  # the look that was under way, with the short interval
    kept.decoder.dead = EngineError("It stopped working.")
    with pytest.raises(EngineError), kept.supervisor.running("language"):
        raise EngineError("It stopped working.")
    await until(lambda: kept.decoder.ended)
    kept.decoder.dead = None


async def test_a_dead_engine_is_cleared_away_once_its_requests_have_left(kept: Kept) -> None:
    """They are told by vLLM, which takes a moment after the process has gone."""
    await kept.supervisor.ready()
    leave = asyncio.Event()

    async def request() -> None:
        with kept.supervisor.running("language"):
            await leave.wait()
            assert kept.decoder.ended == 0

    asking = asyncio.create_task(request())
    await asyncio.sleep(0)
    kept.decoder.dead = EngineError("It stopped working.")
    await until(lambda: kept.decoder.killed)
    leave.set()
    await asking
    kept.decoder.dead = None
    await kept.until("language", "ready")


async def test_an_engine_killed_while_it_loads_is_loaded_again(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSES_S", (0.0,))
    kept = Kept(plan)
    kept.loader.failures = [KILLED]
    kept.supervisor.start()
    async with asyncio.timeout(10):
        await kept.supervisor.ready()
    assert kept.loader.calls == 3
    await kept.supervisor.shutdown()


@pytest.mark.parametrize("fault", [BROKEN, ModelError("model_unavailable", "It is not there.")])
async def test_a_first_start_that_fails_by_itself_is_not_tried_again(
    plan: Plan, fault: Exception
) -> None:
    kept = Kept(plan)
    kept.loader.failure = fault
    kept.supervisor.start()
    for _ in range(2):
        with pytest.raises(type(fault)) as caught:
            await kept.supervisor.decoder()
        assert caught.value is fault
    assert kept.status == "failed"
    assert kept.loader.loaded.count("language") == 1
    await kept.supervisor.shutdown()


async def test_an_engine_that_does_not_last_is_given_up(kept: Kept) -> None:
    """And says so, with what to do, instead of starting for ever."""
    await kept.supervisor.ready()
    kept.decoder.dead = EngineError("It stopped working.")
    await kept.until("language", "failed")
    with pytest.raises(EngineError, match=r"stopped working.*6 times in a row.*start the app"):
        await kept.supervisor.decoder()
    assert kept.loader.loaded.count("language") == 1 + module.RESTARTS
    assert kept.status == "failed"


async def test_a_server_that_others_start_again_is_never_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """However often it is lost; an engine of this machine is given up after the sixth time."""
    monkeypatch.setattr(module, "HEALTH_INTERVAL_S", 0.01)
    monkeypatch.setattr(module, "PAUSES_S", (0.0,))
    urls = {"vision_url": "http://a:8000", "language_url": "http://b:8000"}
    kept = Kept(make_plan(read_settings({"target": "cpu", "topology": "remote", **urls})))
    kept.supervisor.start()
    await kept.supervisor.ready()
    often = 3 * module.RESTARTS
    kept.decoder.dead = EngineError("It stopped working.")
    await until(lambda: kept.loader.loaded.count("language") > often)
    assert kept.status != "failed"
    # Also where it is there but wrong for a while, say with another model.
    kept.loader.failures = [BROKEN] * often
    await until(lambda: not kept.loader.failures)
    assert kept.status != "failed"
    kept.decoder.dead = None
    await kept.until("language", "ready")
    assert kept.supervisor.restarts()["language"] >= 2 * often
    assert kept.loader.loaded.count("vision") == 1
    await kept.supervisor.shutdown()


async def test_a_server_that_is_wrong_at_first_is_told(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a bound, too: a wrong key is told at once, not tried again for ever."""
    monkeypatch.setattr(module, "PAUSES_S", (0.0,))
    loader = FakeLoader(FakeEncoder(), FakeDecoder(None))
    loader.failure = BROKEN
    keeper = module.Keeper("vision", (), 1, partial(loader, plan, "vision"), most_restarts=None)
    keeper.start()
    with pytest.raises(EngineError, match="broken"):
        await keeper.ready()
    assert loader.loaded == ["vision"]
    await keeper.shutdown()


def test_pauses_grow_to_half_a_minute() -> None:
    pauses = [module.pause_s(in_a_row) for in_a_row in range(1000)]
    assert pauses[0] == 0
    assert pauses == sorted(pauses)
    assert set(pauses[4:]) == {30.0}


async def test_restarts_far_apart_do_not_add_up(
    kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEADY_S", 0.0)
    await kept.supervisor.ready()
    for _ in range(module.RESTARTS + 2):
        await kept.dies("vision")
        await kept.until("vision", "ready")
    assert kept.supervisor.restarts()["vision"] == module.RESTARTS + 2


async def test_a_restart_that_fails_is_tried_again(kept: Kept) -> None:
    """The memory of the dead process may not be free yet."""
    await kept.supervisor.ready()
    kept.loader.failures = [BROKEN, BROKEN]
    await kept.dies("vision")
    await kept.until("vision", "ready")
    assert kept.loader.loaded.count("vision") == 4


async def test_without_the_encoder_text_can_still_be_answered(kept: Kept) -> None:
    await kept.supervisor.ready()
    kept.encoder.dead = EngineError("It stopped working.")
    await kept.until("vision", "failed")
    assert kept.status == "degraded"
    assert await kept.supervisor.decoder() is kept.decoder


async def test_shutdown_while_an_engine_is_started_again(kept: Kept) -> None:
    await kept.supervisor.ready()
    kept.loader.gate.clear()
    await kept.dies("vision")
    await until(lambda: kept.loader.calls == 3)
    ending = asyncio.create_task(kept.supervisor.shutdown())
    await asyncio.sleep(0.02)
    kept.loader.gate.set()
    async with asyncio.timeout(5):
        await ending
    assert kept.decoder.ended == 1
    assert kept.loader.stopped
