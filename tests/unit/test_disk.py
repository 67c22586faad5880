"""A full disk is told at the start, and to whoever uploads."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import fastapi
import httpx
import pytest
from gradio.utils import get_upload_folder

from backend.engines import loader
from backend.errors import EngineError, SettingError
from backend.plan import Plan
from ui import disk
from ui.guard import answer_faults


def test_room_enough(tmp_path: Path) -> None:
    disk.check_space(tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


def test_little_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage: Any = shutil.disk_usage(tmp_path)._replace(free=12_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(SettingError, match=r"Only 12 MB are free.*200 are wanted.*GRADIO_TEMP_DIR"):
        disk.check_space(tmp_path)


def test_a_folder_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"cannot be kept in .*file"):
        disk.check_space(tmp_path / "file")


def test_each_app_has_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path))
    with disk.own_folder(disk.upload_folder()) as first:
        assert Path(get_upload_folder()) == first
        (first / "picture.png").write_bytes(b"one")
        with disk.own_folder(tmp_path) as second:
            assert Path(get_upload_folder()) == second
            (second / "picture.png").write_bytes(b"two")
        assert (first / "picture.png").read_bytes() == b"one"
        assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert list(tmp_path.iterdir()) == []
    assert disk.upload_folder() == tmp_path


@pytest.mark.parametrize(
    ("name", "days", "is_left"),
    [
        ("bifocal-uploads-{dead}-ab_3", 2, False),
        ("bifocal-uploads-{dead}-ab_3", 0, True),
        ("bifocal-uploads-{alive}-ab_3", 2, True),
        ("bifocal-uploads-mine", 2, True),
        ("gradio", 2, True),
    ],
)
def test_what_a_killed_app_left_is_cleared_away(
    name: str, days: int, is_left: bool, tmp_path: Path
) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    folder = tmp_path / name.format(dead=gone.pid, alive=os.getpid())
    folder.mkdir()
    (folder / "picture.png").write_bytes(b"one")
    then = time.time() - days * disk.DAY
    os.utime(folder, (then, then))
    with disk.own_folder(tmp_path):
        assert folder.exists() == is_left


async def test_an_upload_to_a_full_disk() -> None:
    app = fastapi.FastAPI()

    @app.post("/upload")
    async def upload() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    answer_faults(app)
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://bifocal") as http:
        answer = await http.post("/upload")
    assert answer.status_code == 507
    assert answer.json()["error"]["code"] == "no_space"


def test_engines_without_temporary_files(plan: Plan, monkeypatch: pytest.MonkeyPatch) -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(loader, "refuse_unknown_architecture", lambda spec: None)
    monkeypatch.setattr(loader, "engine_config", lambda plan, role: role)
    monkeypatch.setattr(loader, "make_folder", full)
    with pytest.raises(EngineError, match=r"No space left on device.*TMPDIR"):
        loader.EngineLoader()(plan, "vision", lambda doing: None)
