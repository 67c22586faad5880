"""The heap settles once, and what has settled can still be freed."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from backend import heap


class Ring:
    """Garbage that only a collection frees."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def thawed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.undo()
    yield
    gc.unfreeze()


def test_what_has_settled_is_not_searched_and_is_freed_all_the_same() -> None:
    ring = Ring()
    there = weakref.ref(ring)
    heap.settle()
    del ring
    gc.collect()
    assert there() is not None
    heap.collect()
    assert there() is None
