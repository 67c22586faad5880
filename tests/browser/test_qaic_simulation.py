"""`--target qaic` end to end on a simulated card (see `tests/qaic_simulation`; no card is used).

The app is told what it would be told before a card, and vLLM too; the simulation refuses what a
card or its plugin would.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import BrowserContext, expect

from tests.browser.conftest import ROOT, running_app, wait_until_ready
from tests.browser.screen import Screen
from tests.browser.test_answers import SCENE
from tests.qaic_simulation import installed

pytestmark = pytest.mark.timeout(300)

# A card computes in float16, which a CPU does slowly.
FLAGS = ("--target", "qaic", "--dtype", "float32")


@contextmanager
def simulated(mode: str, name: str, folder: Path, *flags: str, **environment: str) -> Iterator[str]:
    """An app on a simulated card."""
    variables = {**installed(folder, mode), **environment}
    with running_app(name, *FLAGS, *flags, environment=variables) as app:
        wait_until_ready(app, name)
        yield app


@pytest.fixture(scope="module")
def aot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Ahead of time compiled: two engines on devices 0 and 1."""
    with simulated("aot", "simulated_aot", tmp_path_factory.mktemp("aot") / "card") as app:
        yield app


def ask(app: str, prompt: str, *images: Path) -> dict[str, Any]:
    """The result object of one question."""
    command = [sys.executable, "launch.py", "ask", "--server", app, "--json", "--prompt", prompt]
    for image in images:
        command += ["--image", str(image)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def encoded(app: str) -> float:
    """Requests that the vision encoder has answered."""
    lines = httpx.get(f"{app}/metrics").text.splitlines()
    name = "vllm:request_success_total"
    return sum(
        float(line.rpartition(" ")[2])
        for line in lines
        if line.startswith(name) and 'role="vision"' in line
    )


def test_text_alone_never_reaches_the_encoder(aot: str) -> None:
    result = ask(aot, "What can you do?")
    assert result["usage"]["completion_tokens"] > 0
    assert encoded(aot) == 0


def test_one_picture(aot: str, pictures: Path) -> None:
    result = ask(aot, "Describe this image.", pictures / "scene.png")
    assert result["text"] == SCENE
    assert (result["target"], result["topology"]) == ("qaic", "split")
    assert result["images"][0]["bucket"]["compiled"] == [728, 1280]
    assert encoded(aot) == 1


def test_two_pictures_of_different_shapes_share_a_bucket(aot: str, pictures: Path) -> None:
    """The card takes the rows of all images as one block, which it divides by their number."""
    result = ask(aot, "Describe each image.", pictures / "portrait.png", pictures / "scene.png")
    one, other = (image["bucket"] for image in result["images"])
    assert one["compiled"] == other["compiled"]
    assert result["usage"]["image_tokens"] == 2 * one["tokens"]
    words = result["text"].lower()
    assert "circle" in words
    assert "green triangle" in words


async def test_the_page(aot: str, context: BrowserContext, pictures: Path) -> None:
    screen = await Screen.open(context, aot)
    running = screen.page.get_by_role("list", name="What is running")
    await expect(running).to_contain_text("qaic")
    await expect(screen.status).to_contain_text("group A, device 0")
    await expect(screen.status).to_contain_text("group B, device 1")
    await screen.upload(pictures / "scene.png")
    await screen.ask("How many shapes are there?")
    answer = await screen.answered()
    told = re.compile(r"^There are 3 shapes\.\s+Bifocal demo model is none of the models")
    await expect(answer).to_have_text(told)
    await expect(screen.buckets).to_contain_text("728")


def hub_with(hf_id: str, files: Path, folder: Path) -> str:
    """A Hugging Face folder of this machine in which the id has these files."""
    repository = folder / "hub" / f"models--{hf_id.replace('/', '--')}"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text("made-here")
    snapshot = repository / "snapshots" / "made-here"
    snapshot.mkdir(parents=True)
    for file in files.iterdir():
        if file.is_file():
            (snapshot / file.name).symlink_to(file)
    return str(folder)


async def test_eager_mode_is_one_engine_on_pixels(
    tmp_path: Path, context: BrowserContext, pictures: Path
) -> None:
    """Without buckets, and the page says so. The row is Qualcomm's, the weights are the demo's."""
    model = "Qwen/Qwen2.5-VL-7B-Instruct"
    home = hub_with(model, ROOT / "assets" / "demo_model", tmp_path / "home")
    flags = ("--model", model, "--qaic-mode", "eager")
    offline = {"HF_HOME": home, "HF_HUB_OFFLINE": "1"}
    with simulated("eager", "simulated_eager", tmp_path / "card", *flags, **offline) as app:
        result = ask(app, "Describe this image.", pictures / "scene.png")
        assert (result["target"], result["topology"]) == ("qaic", "fused")
        assert result["images"][0]["bucket"]["compiled"] is None
        assert "green triangle" in result["text"]
        assert any("eager mode, which is one fused engine" in note for note in result["notes"])
        screen = await Screen.open(context, app)
        running = screen.page.get_by_role("list", name="What is running")
        await expect(running).to_contain_text("none")
        await expect(screen.status).to_contain_text("eager mode")
