"""Which devices an engine process is told of, and that nothing of it stays in the environment."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backend.engines.visible_devices import configuring_devices, start_on
from backend.plan import Plan, make_plan
from backend.settings import read_settings

CUDA, QAIC = "CUDA_VISIBLE_DEVICES", "QAIC_VISIBLE_DEVICES"
QWEN = "Qwen/Qwen2.5-VL-32B-Instruct"


def planned(**flags: Any) -> Plan:
    return make_plan(read_settings(flags))


@pytest.mark.parametrize(
    ("flags", "devices", "variable", "seen"),
    [
        ({"target": "cuda", "vision_devices": "2,3"}, (2, 3), CUDA, "2,3"),
        ({"target": "qaic", "model": QWEN, "qaic_mode": "eager"}, (0,), QAIC, "0,1,2,3"),
        ({"target": "qaic"}, (0,), QAIC, None),
        ({"target": "cpu"}, (0,), CUDA, "before"),
    ],
)
@pytest.mark.parametrize("before", [None, "7"])
def test_while_an_engine_starts(
    monkeypatch: pytest.MonkeyPatch,
    before: str | None,
    flags: dict[str, Any],
    devices: tuple[int, ...],
    variable: str,
    seen: str | None,
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if before:
        monkeypatch.setenv(variable, before)
    found = start_on(planned(**flags), devices, lambda: os.environ.get(variable))
    assert found == (before if seen == "before" else seen)
    assert os.environ.get(variable) == before


def test_two_that_change_nothing_start_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes hours."""
    monkeypatch.delenv(QAIC, raising=False)
    plan = planned(target="qaic")
    both = threading.Barrier(2, timeout=20)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda group: start_on(plan, group, both.wait), ((0,), (1,))))


def test_configurations_are_made_so_on_qaic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QAIC, "7")
    monkeypatch.setenv(CUDA, "7")
    with configuring_devices(planned(target="qaic")):
        assert QAIC not in os.environ
    with configuring_devices(planned(target="cuda")):
        assert os.environ[CUDA] == "7"
