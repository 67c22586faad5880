"""The README's programs, run as they are written there, but for the port."""

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.browser.conftest import ROOT

ADDRESS = "http://127.0.0.1:7860"


def program(contains: str) -> str:
    """The indented block of the README that has these words."""
    blocks = re.findall(
        r"(?:^    .*\n|^\n(?=    ))+", (ROOT / "README.md").read_text(), re.MULTILINE
    )
    (found,) = [block for block in blocks if contains in block]
    return dedent(found).strip()


async def run(app: str, folder: Path, *command: str) -> str:
    """What it prints on stdout; it must end well."""
    words = [word.replace(ADDRESS, app) for word in command]
    assert words != list(command)
    process = await asyncio.create_subprocess_exec(
        *words, cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, errors = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, errors.decode()
    return out.decode()


@pytest.fixture
def folder(tmp_path: Path, pictures: Path) -> Path:
    shutil.copy(pictures / "circle.png", tmp_path / "photo.png")
    return tmp_path


async def test_the_python_program(ready_app: str, folder: Path) -> None:
    printed = await run(ready_app, folder, sys.executable, "-c", program("from gradio_client"))
    assert "circle" in printed
    assert "'compiled': [364, 532]" in printed
    assert "'candidates'" in printed


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
async def test_the_curl_lines(ready_app: str, folder: Path) -> None:
    printed = await run(ready_app, folder, "bash", "-eu", "-c", program("curl -s"))
    results = re.findall(r"^event: complete\ndata: (.*)$", printed, re.MULTILINE)
    answer, bucket = (json.loads(data)[0] for data in results)
    assert "circle" in answer["text"]
    assert answer["finish_reason"] == "stop"
    assert "event: generating" in printed
    assert bucket["bucket"]["compiled"] == [364, 532]
    assert len(bucket["candidates"]) == 3
