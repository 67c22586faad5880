"""A small bench on real engines: it runs to its end, and what it found is in its JSON."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from backend.bench.goals import GOALS
from backend.settings import repository

SIDES = ("split", "fused", "bare")
UNMEASURED = {"page_overhead_16"}
WITHOUT_PAGE = """
import sys
import launch
status = launch.main(sys.argv[1:])
assert not {"gradio", "gradio_client"} & sys.modules.keys()
sys.exit(status)
"""


@pytest.mark.timeout(400)
def test_a_small_bench() -> None:
    """Ratios within what no noise explains: how busy the machine is cannot be known here."""
    words = ["bench", "--json", "--sides", ",".join(SIDES), "--repeats", "1", "--streams", "2"]
    result = subprocess.run(
        [sys.executable, "-c", WITHOUT_PAGE, *words, "--tokens", "8", "--picture", "364x532"],
        capture_output=True, text=True, timeout=360, cwd=repository(),
    )  # fmt: skip
    assert result.returncode == 0, result.stderr[-3000:]
    found = json.loads(result.stdout)
    assert {name for name in (goal.name for goal in GOALS) if found[name] is None} == UNMEASURED
    assert found["weights"] == 1.0
    assert found["parameters"]["vision"] > found["parameters"]["language"]
    assert found["ttft_same_image"] < 0.8
    assert 1.0 < found["memory"] < 2.0
    # This process and an engine's own: what else is started must not be taken for an engine.
    assert {side: len(each) for side, each in found["peaks"].items()} == {"split": 3, "fused": 2}
    assert found.keys() >= {"machine", "settings", "sides", "start_s", "seconds"}
    assert set(found["sides"]) == set(SIDES)
    assert found["settings"]["answer"].startswith("A large red circle")
    for side in found["sides"].values():
        for spread in side.values():
            assert 0 < spread["least"] <= spread["median"] <= spread["most"]
