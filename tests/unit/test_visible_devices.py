"""Which devices an engine process is told of, and that nothing of it stays in the environment."""

from __future__ import annotations

import os
from typing import Any

import pytest

from backend.engines.visible_devices import configuring_devices, visible_devices
from backend.plan import Plan, make_plan
from backend.settings import read_settings

CUDA, QAIC = "CUDA_VISIBLE_DEVICES", "QAIC_VISIBLE_DEVICES"
QWEN = "Qwen/Qwen2.5-VL-32B-Instruct"


def planned(**flags: Any) -> Plan:
    return make_plan(read_settings(flags))


@pytest.mark.parametrize(
    ("flags", "role", "variable", "seen"),
    [
        ({"target": "cuda", "vision_devices": "2,3"}, "vision", CUDA, "2,3"),
        ({"target": "cuda", "vision_devices": "2,3"}, "language", CUDA, "1"),
        ({"target": "qaic", "model": QWEN, "qaic_mode": "eager"}, "fused", QAIC, "0,1,2,3"),
        ({"target": "qaic"}, "vision", QAIC, None),
        ({"target": "qaic"}, "language", QAIC, None),
        ({"target": "cpu"}, "vision", CUDA, None),
    ],
)
@pytest.mark.parametrize("before", [None, "7"])
def test_while_an_engine_starts(
    monkeypatch: pytest.MonkeyPatch,
    before: str | None,
    flags: dict[str, Any],
    role: str,
    variable: str,
    seen: str | None,
) -> None:
    monkeypatch.delenv(variable, raising=False)
    if before:
        monkeypatch.setenv(variable, before)
    with visible_devices(planned(**flags), role):
        assert os.environ.get(variable) == (before if flags["target"] == "cpu" else seen)
    assert os.environ.get(variable) == before


def test_two_that_change_nothing_start_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiling takes hours."""
    monkeypatch.delenv(QAIC, raising=False)
    plan = planned(target="qaic")
    with visible_devices(plan, "vision"), visible_devices(plan, "language"):
        assert QAIC not in os.environ


def test_configurations_are_made_so_on_qaic_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QAIC, "7")
    monkeypatch.setenv(CUDA, "7")
    with configuring_devices(planned(target="qaic"), "vision"):
        assert QAIC not in os.environ
    with configuring_devices(planned(target="cuda"), "vision"):
        assert os.environ[CUDA] == "7"
