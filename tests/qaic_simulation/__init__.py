"""A simulation of QAIC cards for tests: a vLLM platform plugin over the CPU. It is no QAIC.

It accepts the engine arguments that the public vllm-qaic plugin (v0.23.0) accepts, and refuses
what a card or the plugin would refuse. It is stricter where the plugin would quietly make do: that
resizes a picture of the wrong size, switches asynchronous scheduling and prefix caching off by
itself, and lets the later of two sizes with one number of tokens win; all of that is an error here,
because Bifocal is to have done it right. Every message and the log say that the card is simulated.
What is compiled for a card there is upstream's model on the CPU here. Quantization is accepted, and
not done.

vLLM finds it by an entry point, so it is there only for processes whose PYTHONPATH has the folder
that `installed` writes; QAIC_SIMULATION says which of the plugin's two modes it plays.
"""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path

from backend.settings import repository

MODE = "QAIC_SIMULATION"
"""`aot` or `eager`; the real plugin is one or the other by what else is installed."""
BOARD = "QAIC_SIMULATION_BOARD"
"""A folder with a file for every device that an engine holds."""
QIDS = (0, 1, 2, 3)
"""The devices of the one card there is."""


def register() -> str | None:
    """The platform's class, for vLLM."""
    return "tests.qaic_simulation.platform.SimulatedQaicPlatform" if MODE in os.environ else None


def register_loader() -> None:
    """The loader of models, for vLLM, in each of its processes."""
    if MODE in os.environ:
        import_module("tests.qaic_simulation.loader")


def installed(folder: Path, mode: str) -> dict[str, str]:
    """Variables under which vLLM finds the simulation, whose entry point is written to `folder`."""
    made = folder / "qaic_simulation-0.dist-info"
    made.mkdir(parents=True)
    (made / "METADATA").write_text("Metadata-Version: 2.1\nName: qaic-simulation\nVersion: 0\n")
    (made / "entry_points.txt").write_text(
        "[vllm.platform_plugins]\nqaic_simulation = tests.qaic_simulation:register\n"
        "[vllm.general_plugins]\nqaic_simulation = tests.qaic_simulation:register_loader\n"
    )
    board = folder / "board"
    board.mkdir()
    return {
        "PYTHONPATH": f"{folder}:{repository()}",
        MODE: mode,
        BOARD: str(board),
        # A card compiles models in its own way; on the CPU nothing is compiled.
        "TORCH_COMPILE_DISABLE": "1",
    }
