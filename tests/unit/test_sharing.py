"""The public link: its password, what is told when, and that a failure is told and survived.

The tunnel of these tests is a stand-in; `test_tunnel.py` has Gradio's.
"""

import asyncio
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from backend.settings import Settings, read_settings
from ui import sharing
from ui.sharing import Link, Sharing, open_to_others, with_password

LINK = "https://abc.gradio.live"


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """Closed: a tunnel that waits for it does not come."""
    gate = threading.Event()
    yield gate
    gate.set()


def shared(**flags: Any) -> Settings:
    return read_settings({"target": "cpu", "share": True, **flags})


async def told(settings: Settings, tunnel: Any, host: str = "127.0.0.1") -> tuple[Sharing, str]:
    """A finished attempt, and all that was printed."""
    filled = with_password(settings)
    attempt = Sharing(filled, random_password=filled is not settings, tunnel=tunnel)
    lines: list[str] = []
    await attempt.open(host, 7860, lines.append)
    return attempt, "\n".join(lines)


def broken(host: str, port: int) -> str:
    raise ValueError("frpc said no")


def test_sharing_without_users_makes_a_random_password() -> None:
    entries = {with_password(shared()).auth[0] for _ in range(3)}
    assert len(entries) == 3
    assert all(re.fullmatch(r"bifocal:[\w-]{16,}", entry) for entry in entries)


def test_own_users_win() -> None:
    assert with_password(shared(auth=["ann:one"])).auth == ("ann:one",)


def test_what_is_not_shared_has_no_password() -> None:
    assert with_password(read_settings({"target": "cpu"})).auth == ()


async def test_the_link_is_told_once_with_the_password_and_known_to_the_page() -> None:
    asked = []

    def tunnel(host: str, port: int) -> str:
        asked.append((host, port))
        return LINK

    attempt, said = await told(shared(), tunnel, host="0.0.0.0")
    assert asked == [("127.0.0.1", 7860)]
    assert said.count(LINK) == 1
    assert re.search(r"user bifocal, password \S{16,}\)", said)
    assert attempt.link == Link(address=LINK)
    assert attempt.settled


async def test_a_password_of_ones_own_is_not_printed() -> None:
    _, said = await told(shared(auth=["ann:geheim"]), lambda host, port: LINK)
    assert LINK in said
    assert "geheim" not in said


async def test_without_a_tunnel_the_app_goes_on_and_the_password_is_told() -> None:
    attempt, said = await told(shared(), broken)
    assert re.search(r"No share link: .*goes on at http://127\.0\.0\.1:7860 \(user bifocal, ", said)
    assert attempt.link.problem
    assert not attempt.link.address
    assert attempt.settled


async def test_a_tunnel_that_hangs_is_told_in_time_and_may_still_come(
    gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slow download of the tunnel program is no reason to lose the link."""
    assert sharing.SAY_WITHIN_S <= 15
    monkeypatch.setattr(sharing, "SAY_WITHIN_S", 0.05)

    def slow(host: str, port: int) -> str:
        assert gate.wait(20)
        return LINK

    filled = with_password(shared())
    attempt = Sharing(filled, random_password=True, tunnel=slow)
    lines: asyncio.Queue[str] = asyncio.Queue()
    opening = asyncio.create_task(attempt.open("127.0.0.1", 7860, lines.put_nowait))
    late = await asyncio.wait_for(lines.get(), 10)
    assert "No share link yet" in late
    assert "password" in late
    assert attempt.link.problem
    gate.set()
    await asyncio.wait_for(opening, 10)
    assert lines.get_nowait() == f"Share link: {LINK}"
    assert attempt.link.address == LINK


async def test_an_app_that_ends_does_not_wait_for_the_tunnel(gate: threading.Event) -> None:
    attempt = Sharing(
        with_password(shared()), random_password=True, tunnel=lambda host, port: str(gate.wait(20))
    )
    opening = asyncio.create_task(attempt.open("127.0.0.1", 7860))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(opening, 5)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "fe80::1%eth0"])
def test_a_host_that_others_reach_is_warned_of(host: str) -> None:
    warning = open_to_others(host, read_settings({"target": "cpu"}))
    assert "--auth" in warning
    assert "127.0.0.1" in warning
    assert not open_to_others(host, read_settings({"target": "cpu", "auth": ["ann:one"]}))


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "127.0.0.2"])
def test_this_machine_alone_needs_no_warning(host: str) -> None:
    assert not open_to_others(host, read_settings({"target": "cpu"}))
