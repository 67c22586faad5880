"""A full disk is told at the start, and to whoever uploads."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import fastapi
import httpx
import pytest

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
