"""The simulated card's own rules, which are the plugin's: read in its source, run here."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from backend.settings import repository
from tests.qaic_simulation import BOARD
from tests.qaic_simulation.rules import CardError, device_group, snapped_sizes

QWEN = SimpleNamespace(
    hf_config=SimpleNamespace(vision_config=SimpleNamespace(patch_size=14, spatial_merge_size=2))
)

TAKING = """
import sys
from tests.qaic_simulation.board import take_devices
take_devices([int(qid) for qid in sys.argv[1:]])
print("taken", flush=True)
sys.stdin.read()
"""


def sizes(**overrides: Any) -> dict[int, tuple[int, int]]:
    return snapped_sizes(overrides, QWEN)


def test_a_group_inside_wins_over_the_one_at_the_top() -> None:
    """As Qualcomm's document has it for its encoder, which then lands on the decoder's device."""
    document = {"device_group": [0], "override_qaic_config": {"device_group": [1]}}
    assert device_group(document) == [1]
    assert device_group({"device_group": [0], "override_qaic_config": {}}) == [0]
    assert device_group({"override_qaic_config": {"device_group": [1]}}) == [1]
    assert device_group({}) is None


def test_sizes_are_pairs_by_their_number_of_tokens() -> None:
    found = sizes(height=[364, 512, 728], width=[532, 910, 1280])
    assert found == {247: (364, 532), 576: (504, 896), 1196: (728, 1288)}


def test_the_plugins_own_size_and_limits_where_none_are_given() -> None:
    assert sizes() == {247: (364, 532)}
    limited = sizes(height=[728], width=[1280], mm_processor_kwargs={"max_pixels": 28 * 28 * 300})
    ((tokens, _),) = limited.items()
    assert tokens <= 300


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"height": [364]}, "provided together"),
        ({"width": [536]}, "provided together"),
        ({"height": [364, 512], "width": [532]}, r"heights \(2\) and widths \(1\) must match"),
        ({"height": 364, "width": 532}, "are lists"),
        ({"height": [364, 532], "width": [532, 364]}, "have 247 tokens each"),
    ],
)
def test_sizes_that_are_refused(overrides: dict[str, Any], words: str) -> None:
    with pytest.raises(CardError, match=f"^simulated QAIC card: .*{words}"):
        sizes(**overrides)


def test_a_device_is_one_engines_alone(tmp_path: Path) -> None:
    """Groups that overlap collide, others do not; a process that ends lets its devices go."""
    environment = {"PYTHONPATH": str(repository()), BOARD: str(tmp_path), "PATH": "/usr/bin:/bin"}

    def taking(*qids: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", TAKING, *map(str, qids)], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    first = taking(0, 1)
    try:
        assert first.stdout
        assert first.stdout.readline() == "taken\n"
        _, said = taking(1, 2).communicate("", timeout=60)
        assert "simulated QAIC card: device 1 is in use by another engine" in said
    finally:
        first.communicate("")
    assert taking(1, 2).communicate("", timeout=60)[0] == "taken\n"
