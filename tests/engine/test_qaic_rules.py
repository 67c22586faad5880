"""What the simulated card refuses of engines that are started past Bifocal's own checks.

All are started in one process of their own, as the platform is a process's; no card is used.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from backend.settings import repository
from tests.qaic_simulation import installed

pytestmark = pytest.mark.timeout(240)

CASES = {
    # What is done to the plan and to the vision engine's sizes: what the card says.
    "sizes.update(width=[532])": "heights (3) and widths (1) must match",
    "sizes.pop('width')": "height and width must be provided together",
    "sizes.update(height=[364, 532], width=[532, 364])": "have 247 tokens each",
    "sizes.update(hight=[364])": "override_qaic_config has no hight",
    'vision["additional_config"]["device_group"] = [7]': "there are no devices [7]",
    'vision["async_scheduling"] = True': "needs async_scheduling=False",
    'vision["quantization"] = "mxfp6"': "neither quantization nor kv_cache_dtype",
    'language["enable_mm_embeds"] = False': "needs enable_mm_embeds",
    'language["enable_prefix_caching"] = True': "prefix caching is not supported",
    # The one case in which an engine is started: as in Qualcomm's document, whose encoder has a
    # group of its own at the top and a copy of the decoder's inside, which wins.
    "for each in (vision, language):"
    " each['additional_config']['override_qaic_config']['device_group'] = [1]": (
        "device 1 is in use by another engine"
    ),
}

PROGRAM = """
import json, sys
from backend.engines import loader
from backend.engines.args import engine_args
from backend.engines.environment import prepare_environment
from backend.errors import BifocalError
from backend.plan import make_plan
from backend.settings import read_settings

def start_both(plan, edit):
    def changed(plan):
        args = engine_args(plan)
        vision, language = args["vision"], args["language"]
        sizes = vision["additional_config"]["override_qaic_config"]
        exec(edit)
        return args
    loader.engine_args = changed
    start, engines = loader.EngineLoader(), []
    try:
        for role in ("vision", "language"):
            engines.append(start(plan, role, lambda doing: None))
        return "started both"
    except BifocalError as error:
        return f"after {len(engines)}: {error.message}"
    finally:
        for engine in engines:
            engine.shutdown()

def main():
    plan = make_plan(read_settings({"target": "qaic", "dtype": "float32"}))
    prepare_environment(plan)
    print(json.dumps({edit: start_both(plan, edit) for edit in json.loads(sys.argv[1])}))

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What came of every case."""
    folder = tmp_path_factory.mktemp("rules")
    (folder / "start.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, str(folder / "start.py"), json.dumps(list(CASES))],
        cwd=repository(), capture_output=True, text=True, timeout=200, check=False,
        env={**os.environ, **installed(folder / "card", "aot"), "HF_HUB_OFFLINE": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("case", CASES)
def test_the_card_refuses(said: dict[str, str], case: str) -> None:
    collides = case == list(CASES)[-1]
    assert CASES[case] in said[case]
    assert "simulated QAIC card: " in said[case]
    assert said[case].startswith(f"after {int(collides)}: The ")
    assert "validation error" not in said[case]


def test_bifocal_itself_refuses_before(tmp_path: Path) -> None:
    """Nobody gets as far as the card with groups that collide or sizes that do not pair up."""
    for flags, words in (
        (["--language-devices", "0"], "without a device in common"),
        (["--widths", "532"], "--heights"),
        (["--heights", "364,532", "--widths", "532,364"], "247"),
    ):
        done = subprocess.run(
            [sys.executable, "launch.py", "engine-args", "--target", "qaic", *flags],
            cwd=repository(), capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert (done.returncode, words in done.stderr) == (2, True), done.stderr
