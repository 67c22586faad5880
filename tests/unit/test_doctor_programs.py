"""The doctor on compiled programs that a person names, as the plugin looks for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from backend.doctor.cards import check_cards
from backend.doctor.finding import Finding
from backend.plan import make_plan
from backend.settings import read_settings


def found(value: str, tools: Path) -> Finding:
    plan = make_plan(read_settings({"target": "qaic"}))
    findings = check_cards(plan, {"VLLM_QAIC_QPC_PATH": value}, tools)
    return next(finding for finding in findings if finding.name == "compiled programs")


@pytest.fixture
def programs(tmp_path: Path) -> tuple[Path, Path]:
    """Folders of the encoder's and of the decoder's program."""
    both = tmp_path / "vision", tmp_path / "language"
    for folder in both:
        folder.mkdir()
        (folder / "programqpc.bin").write_bytes(b"made here")
    return both


def test_one_for_each_engine(programs: tuple[Path, Path], tmp_path: Path) -> None:
    """As folders, or as the files in them."""
    vision, language = programs
    assert found(f"{vision}:{language}", tmp_path).state == "ok"
    assert found(f"{vision}/programqpc.bin:{language}", tmp_path).state == "ok"


def test_a_single_one_would_be_both_engines(programs: tuple[Path, Path], tmp_path: Path) -> None:
    finding = found(str(programs[0]), tmp_path)
    assert finding.state == "failed"
    assert "names 1 of them" in finding.what
    assert "colon" in finding.advice


def test_a_folder_without_a_program(programs: tuple[Path, Path], tmp_path: Path) -> None:
    """An empty folder, as one that was not copied to its end."""
    empty = tmp_path / "empty"
    empty.mkdir()
    for other in (empty, tmp_path / "none"):
        finding = found(f"{programs[0]}:{other}", tmp_path)
        assert finding.state == "failed"
        assert f"{other}, where there is no programqpc.bin" in finding.what
