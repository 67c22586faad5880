"""`launch.py buckets` and `/bucket`: the panel as text and as JSON, without engines."""

import asyncio
import io
import json
from pathlib import Path
from typing import Any

import pytest

from backend.errors import InputError
from backend.service import Bifocal
from backend.settings import read_settings
from backend.types import ChatRequest, Turn
from ui.api import Api
from ui.command_line import buckets
from ui.command_line.ask import image_input
from ui.command_line.output import Output
from ui.command_line.parser import build_parser

from .fakes import picture_file
from .pictures import RED

IMAGE = {"source", "width", "height", "sha256", "cached", "notes", "bucket"}
CANDIDATE = {
    "height", "width", "compiled", "tokens", "effective_pixels", "wasted_pixels", "chosen",
}  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """A landscape of the smallest bucket's own size, and a portrait."""
    sizes = {"landscape.png": (532, 364), "portrait.png": (364, 532)}
    return [picture_file(tmp_path, name, RED, size).location for name, size in sizes.items()]


def run(files: list[str], as_json: bool, **flags: object) -> str:
    answer = io.StringIO()
    settings = read_settings({"target": "cpu", **flags})
    buckets.run(build_parser().parse_args(["buckets", *files]), settings, Output(answer, as_json))
    return answer.getvalue()


def entries(files: list[str], **flags: object) -> list[dict[str, Any]]:
    parsed: list[dict[str, Any]] = json.loads(run(files, True, **flags))
    return parsed


def test_the_contracts_fields(files: list[str]) -> None:
    for entry in entries(files):
        assert set(entry) == IMAGE | {"candidates", "why", "warnings", "ctx_len"}
        assert [set(candidate) for candidate in entry["candidates"]] == [CANDIDATE] * 3


def test_the_values_of_a_portrait(files: list[str]) -> None:
    entry = entries(files)[1]
    assert entry["bucket"] == {
        "height": 728, "width": 1288, "compiled": [728, 1280], "tokens": 1196, "fit": "stretch",
        "aspect_change": 2.5858,
    }  # fmt: skip
    assert [c["chosen"] for c in entry["candidates"]] == [False, False, True]
    (warning,) = entry["warnings"]
    assert "stretched to 2.6 times its width" in warning
    assert entry["ctx_len"] == 16384


def test_nothing_to_warn_of_is_an_empty_list(files: list[str]) -> None:
    assert entries(files)[0]["warnings"] == []


def test_as_text(files: list[str]) -> None:
    landscape, portrait = run(files, False).split("\n\n")
    assert "landscape.png: 364 x 532 pixels" in landscape
    assert "which is a bucket" in landscape
    assert "warning" not in landscape
    assert "1,196 of 16,384 tokens of the context" in portrait
    assert "warning: The picture is stretched to 2.6 times its width" in portrait
    for line in (
        "    364x532 compiled, 364x532 snapped, 247 tokens (1.5 % of the context), 90,636 eff",
        "    512x910 compiled, 504x896 snapped, 576 tokens (3.5 % of the context)",
        "  * 728x1280 compiled, 728x1288 snapped, 1,196 tokens (7.3 % of the context)",
    ):
        assert line in portrait


def test_padding_is_not_warned_of(files: list[str]) -> None:
    entry = entries(files, fit="pad")[1]
    assert entry["warnings"] == []
    assert entry["bucket"]["aspect_change"] == 1.0


def test_images_named_together_are_one_request(files: list[str]) -> None:
    together = entries(files, target="qaic")
    assert [entry["bucket"]["tokens"] for entry in together] == [1196, 1196]
    assert all("share one bucket on QAIC" in entry["why"] for entry in together)
    assert [entry["bucket"]["tokens"] for entry in entries(files)] == [247, 1196]


async def test_the_endpoint_gives_one_entry_of_the_command(files: list[str]) -> None:
    backend = Bifocal(read_settings({"target": "cpu"}))
    (said,) = await asyncio.to_thread(entries, files[1:])
    # The command names a file by its path, an upload has only a name.
    assert {**await Api(backend).bucket(files[1]), "source": said["source"]} == said


@pytest.mark.parametrize("as_json", [False, True])
def test_more_images_than_one_request_takes_are_refused_as_ask_refuses_them(as_json: bool) -> None:
    """Before any is read: none of these files is there."""
    files = ["missing.png"] * 3
    with pytest.raises(InputError) as caught:
        run(files, as_json, max_images=2)
    asked = ChatRequest((Turn("user", "?", tuple(map(image_input, files))),))
    backend = Bifocal(read_settings({"target": "cpu", "max_images": 2}))
    with pytest.raises(InputError) as due:
        backend.check(asked)
    assert (caught.value.code, caught.value.message) == (due.value.code, due.value.message)
    assert due.value.code == "too_many_images"


def test_as_many_images_as_one_request_takes_are_placed(files: list[str]) -> None:
    assert len(entries(files, max_images=2)) == 2
