"""The queue: bounded, fair between clients, and its places are told truly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from backend.admission import Admission, Ticket
from backend.errors import BusyError


class Visitor:
    """One request: in the queue until it is let in, then until it leaves."""

    def __init__(self, admission: Admission, client: str, size: int) -> None:
        self.stack = ExitStack()
        self.ticket: Ticket = self.stack.enter_context(admission.place(client, size))
        self.places: list[int] = []
        self.task = asyncio.create_task(self._wait(admission))

    async def _wait(self, admission: Admission) -> None:
        async for before in admission.turn(self.ticket):
            self.places.append(before)

    def leave(self) -> None:
        self.task.cancel()
        self.stack.close()


class Door:
    """An admission and everybody who came."""

    def __init__(self, most: int, at_once: int) -> None:
        self.admission = Admission(most, at_once)
        self.visitors: list[Visitor] = []

    async def comes(self, *clients: str, size: int = 1) -> list[Visitor]:
        made = [Visitor(self.admission, client, size) for client in clients]
        self.visitors += made
        await settle()
        return made

    async def leaves(self, visitor: Visitor) -> None:
        visitor.leave()
        self.visitors.remove(visitor)
        await settle()

    def running(self) -> list[str]:
        return [v.ticket.client for v in self.visitors if v.ticket.running]


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
def doors() -> Iterator[list[Door]]:
    made: list[Door] = []
    yield made
    for door in made:
        for visitor in door.visitors:
            visitor.leave()
        assert (door.admission.inside, door.admission.waiting, door.admission.running) == (0, 0, 0)


def door(doors: list[Door], most: int, at_once: int) -> Door:
    doors.append(Door(most, at_once))
    return doors[-1]


async def test_so_many_run_and_the_rest_wait_in_order(doors: list[Door]) -> None:
    here = door(doors, 10, 2)
    a, _, c, d = await here.comes("a", "b", "c", "d")
    assert here.running() == ["a", "b"]
    assert (c.places, d.places) == ([0], [1])
    assert (here.admission.running, here.admission.waiting, here.admission.inside) == (2, 2, 4)
    await here.leaves(a)
    assert here.running() == ["b", "c"]
    assert d.places == [1, 0]


async def test_one_past_the_bound_is_told_to_come_again(doors: list[Door]) -> None:
    here = door(doors, 3, 1)
    await here.comes("a", "b", "c")
    with pytest.raises(BusyError, match=r"All 3 places.*try again in \d+ seconds") as caught:
        here.admission.place("d").__enter__()
    assert caught.value.code == "busy"
    await here.leaves(here.visitors[1])
    await here.comes("d")
    assert here.admission.inside == 3


async def test_one_client_cannot_take_all_places(doors: list[Door]) -> None:
    here = door(doors, 16, 2)
    await here.comes(*"aaaa")
    with pytest.raises(BusyError, match="4 questions under way"):
        here.admission.place("a").__enter__()
    await here.comes("b")


async def test_turns_go_round(doors: list[Door]) -> None:
    """Whoever asked ten at once does not make one with a single question wait for all of them."""
    here = door(doors, 64, 1)
    first, *_ = await here.comes("a", "a", "a", "a")
    b, c = await here.comes("b", "c")
    assert (b.places, c.places) == ([1], [2])
    order = []
    current = first
    for _ in range(5):
        await here.leaves(current)
        (current,) = [v for v in here.visitors if v.ticket.running]
        order.append(current.ticket.client)
    assert order == ["a", "b", "c", "a", "a"]


async def test_places_told_are_kept(doors: list[Door]) -> None:
    """`n before yours` is the number that go first if nobody else comes or leaves."""
    here = door(doors, 64, 1)
    (running,) = await here.comes("x")
    waiting = await here.comes(*"aabacbba")
    told = {visitor: visitor.places[-1] for visitor in waiting}
    assert sorted(told.values()) == list(range(8))
    order: list[Visitor] = []
    for _ in waiting:
        await here.leaves(running)
        (running,) = [v for v in here.visitors if v.ticket.running]
        order.append(running)
    assert [told[visitor] for visitor in order] == list(range(8))


async def test_whoever_leaves_the_queue_makes_room(doors: list[Door]) -> None:
    here = door(doors, 10, 1)
    _, b, c = await here.comes("a", "b", "c")
    await here.leaves(b)
    assert c.places == [1, 0]
    assert here.admission.waiting == 1


async def test_a_ticket_takes_as_many_places_as_its_size(doors: list[Door]) -> None:
    """Nobody overtakes one who needs more room than there is, and its images stay together."""
    entry = door(doors, most=9, at_once=4)
    first = (await entry.comes("a", size=3))[0]
    second = (await entry.comes("b", size=2))[0]
    third = (await entry.comes("c", size=1))[0]
    assert entry.running() == ["a"]
    assert (second.places[-1], third.places[-1]) == (0, 1)
    await entry.leaves(first)
    assert entry.running() == ["b", "c"]
    assert entry.admission.running == 3


async def test_one_that_is_larger_than_everything_goes_in_alone(doors: list[Door]) -> None:
    entry = door(doors, most=9, at_once=4)
    small = (await entry.comes("a", size=1))[0]
    await entry.comes("b", size=8)
    assert entry.running() == ["a"]
    await entry.leaves(small)
    await entry.comes("c", size=1)
    assert entry.running() == ["b"]
