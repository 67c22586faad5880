"""What the simulated card refuses, in engines that are started past Bifocal's own checks.

Each start is a process of its own, as the platform is a process's; no card is used.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.settings import repository
from tests.qaic_simulation import installed

pytestmark = pytest.mark.timeout(240)

START = """
import sys
from dataclasses import replace
from backend.engines import loader
from backend.engines.args import engine_args
from backend.engines.environment import prepare_environment
from backend.errors import BifocalError
from backend.plan import make_plan
from backend.settings import read_settings

def main():
    plan = make_plan(read_settings({{"target": "qaic", "dtype": "float32"}}))
    prepare_environment(plan)
    plan = replace(plan, {changes})
    own = engine_args
    def changed(plan):
        args = own(plan)
        sizes = args["vision"]["additional_config"]["override_qaic_config"]
        {edit}
        return args
    loader.engine_args = changed
    start, engines = loader.EngineLoader(), []
    try:
        for role in ("vision", "language"):
            engines.append(start(plan, role, lambda doing: None))
        print("started both")
    except BifocalError as error:
        print("refused:", error.message)
    for engine in engines:
        engine.shutdown()

if __name__ == "__main__":
    main()
"""


def start(folder: Path, changes: str = "", edit: str = "pass") -> str:
    """What comes of starting both engines with a changed plan and edited arguments."""
    program = folder / "start.py"
    program.write_text(START.format(changes=changes, edit=edit))
    done = subprocess.run(
        [sys.executable, str(program)],
        cwd=repository(), capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, **installed(folder / "card", "aot"), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    return done.stdout.strip() or done.stderr[-3000:]


def test_device_groups_that_collide(tmp_path: Path) -> None:
    """The second engine finds the first one's device taken."""
    said = start(tmp_path, "language_devices=(0,)")
    assert "refused: The language engine did not start" in said
    assert "device 0 is in use" in said


@pytest.mark.parametrize(
    ("changes", "edit", "words"),
    [
        ("", "sizes.update(width=[532])", "heights (3) and widths (1) must match"),
        ("", "sizes.update(height=[364, 532], width=[532, 364])", "have 247 tokens each"),
        ("vision_devices=(7,)", "pass", "no devices [7]"),
        (
            "", "sizes.update(hight=[364])", "override_qaic_config has no hight",
        ),
        ("", 'args["vision"]["async_scheduling"] = True', "needs async_scheduling=False"),
        ("", 'args["vision"]["quantization"] = "mxfp6"', "neither quantization"),
        ("", 'args["language"]["enable_mm_embeds"] = False', "needs enable_mm_embeds"),
        ("", 'args["language"]["enable_prefix_caching"] = True', "prefix caching"),
    ],
)  # fmt: skip
def test_arguments_that_the_card_does_not_take(
    tmp_path: Path, changes: str, edit: str, words: str
) -> None:
    """All are seen before an engine process is started."""
    said = start(tmp_path, changes, edit)
    assert said.startswith("refused:"), said
    assert words in said
