"""The doctor on cards and GPUs: programs of vendors are fakes on PATH that print as documented."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from backend.doctor.cards import Card, check_cards, read_cards
from backend.doctor.finding import Finding
from backend.doctor.gpus import check_gpus
from backend.plan import make_plan
from backend.settings import read_settings, repository

from .conftest import Versions

ONE_A_LINE = """
QID 0
\tStatus:Ready
\tPCI Address:0000:01:00.0
\tBoard Serial:ABC123
\tNsp Total:16
\tNsp Free:16
QID 1
\tStatus:Ready
\tBoard Serial:ABC123
\tNsp Total:16
\tNsp Free:2
QID 2
\tStatus:Error
\tBoard Serial:ABC123
QID 3
\tStatus:Ready
\tBoard Serial:XYZ9
\tNsp Total:16
\tNsp Free:16
"""

ONE_A_DEVICE = """
QID 0: Status Ready, Board Serial ABC123
QID 1: Status Ready, Board Serial ABC123
QID 2: Status Busy, Board Serial ABC123
"""

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Put a program on an otherwise empty PATH that prints a text."""
    folder = tmp_path / "programs"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))

    def put(name: str, text: str) -> None:
        (folder / f"{name}.txt").write_text(text)
        program = folder / name
        code = f"import sys; sys.stdout.write(open({str(folder / name)!r} + '.txt').read())"
        program.write_text(f"#!{sys.executable}\n{code}\n")
        program.chmod(0o755)

    return put


def by_name(findings: Iterable[Finding]) -> dict[str, Finding]:
    return {finding.name: finding for finding in findings}


def cards(tmp_path: Path, environment: dict[str, str] | None = None, **flags: Any) -> Any:
    plan = make_plan(read_settings({"target": "qaic", **flags}))
    variables = {"QEFF_HOME": str(tmp_path / "qeff"), **(environment or {})}
    return by_name(check_cards(plan, variables, tmp_path / "nowhere"))


def test_both_forms_of_the_vendors_output() -> None:
    assert read_cards(ONE_A_LINE) == {
        0: Card(0, "Ready", "ABC123", 16, 16),
        1: Card(1, "Ready", "ABC123", 16, 2),
        2: Card(2, "Error", "ABC123"),
        3: Card(3, "Ready", "XYZ9", 16, 16),
    }
    assert read_cards(ONE_A_DEVICE) == {
        0: Card(0, "Ready", "ABC123"),
        1: Card(1, "Ready", "ABC123"),
        2: Card(2, "Busy", "ABC123"),
    }


@pytest.mark.parametrize(
    ("vision", "language", "engine", "words"),
    [
        ("0", "1", "language decoder", "QID 1 is in use"),
        ("0", "2", "language decoder", "QID 2 is Error"),
        ("0,3", "9", "vision encoder", "0,3 are on 2 boards (ABC123, XYZ9)"),
        ("0", "9", "language decoder", "no QID 9"),
    ],
)
def test_a_group_that_cannot_be_had(
    install: Install, tmp_path: Path, vision: str, language: str, engine: str, words: str
) -> None:
    install("qaic-util", ONE_A_LINE)
    found = cards(tmp_path, vision_devices=vision, language_devices=language)
    finding = found[f"devices of the {engine}"]
    assert finding.state == "failed"
    assert words in finding.what
    assert finding.advice


def test_groups_that_are_free(install: Install, tmp_path: Path) -> None:
    install("qaic-util", ONE_A_DEVICE)
    found = cards(tmp_path, vision_devices="0", language_devices="1")
    assert found["devices of the vision encoder"].state == "ok"
    assert found["devices of the language decoder"].state == "ok"
    busy = cards(tmp_path, vision_devices="0", language_devices="2")
    assert "in use" in busy["devices of the language decoder"].what


def test_eager_mode_has_one_group(install: Install, tmp_path: Path) -> None:
    install("qaic-util", ONE_A_LINE)
    model = "Qwen/Qwen2.5-VL-32B-Instruct"
    found = cards(tmp_path, {"QAIC_VISIBLE_DEVICES": "0"}, model=model, qaic_mode="eager")
    assert found["devices of the engine"].what == "QID 1 is in use"
    assert found["visible devices"].state == "ok"
    assert "compiled programs" not in found


def test_the_variable_that_wins_over_the_groups(tmp_path: Path) -> None:
    found = cards(tmp_path, {"QAIC_VISIBLE_DEVICES": "0,1"})
    assert found["visible devices"].state == "warning"
    assert "Bifocal leaves it out" in found["visible devices"].advice
    assert "unset it for those that you start by hand" in found["visible devices"].advice


def test_without_the_vendors_program(install: Install, tmp_path: Path) -> None:
    assert cards(tmp_path)["QAIC devices"].state == "failed"
    install("qaic-util", "nothing that means anything\n")
    assert "tells of none" in cards(tmp_path)["QAIC devices"].what


def test_a_program_that_fails(install: Install, tmp_path: Path) -> None:
    install("qaic-util", "")
    program = tmp_path / "programs" / "qaic-util"
    program.write_text(f"#!{sys.executable}\nimport sys; sys.exit('no permission')\n")
    assert "no permission" in cards(tmp_path)["QAIC devices"].what


def test_what_is_compiled_already(tmp_path: Path) -> None:
    assert cards(tmp_path)["compiled programs"].state == "warning"
    (tmp_path / "qeff" / "Qwen").mkdir(parents=True)
    assert cards(tmp_path)["compiled programs"].state == "ok"
    own = cards(tmp_path, {"VLLM_QAIC_QPC_PATH": str(tmp_path / "none")})["compiled programs"]
    assert own.state == "failed"


def test_the_plugin_is_not_installed_here(tmp_path: Path) -> None:
    assert cards(tmp_path)["QAIC plugin"].state == "failed"


@pytest.mark.parametrize(
    ("plugin", "vllm", "state"),
    [
        ("0.23.0", "0.23.0", "ok"),
        ("0.23.0", "0.23.1+cpu", "ok"),
        ("0.23.0.post1", "0.23.0", "ok"),
        ("0.23.0", "0.32.0", "failed"),
        ("0.23.0", "0.2.3", "failed"),
        ("1.23.0", "0.23.0", "failed"),
    ],
)
def test_the_plugin_and_its_vllm(
    versions: Versions, tmp_path: Path, plugin: str, vllm: str, state: str
) -> None:
    """They belong together where the first two numbers are the same."""
    versions({"vllm-qaic": plugin, "vllm": vllm})
    finding = cards(tmp_path)["QAIC plugin"]
    assert finding.state == state
    assert f"vllm-qaic {plugin}" in finding.what
    if state == "failed":
        assert f"beside vLLM {vllm}" in finding.what
        assert finding.advice == "install the vLLM of the same version as the plugin"


def test_the_plugin_without_any_vllm(versions: Versions, tmp_path: Path) -> None:
    versions({"vllm-qaic": "0.23.0"})
    finding = cards(tmp_path)["QAIC plugin"]
    assert (finding.state, finding.what) == ("failed", "vllm-qaic 0.23.0 is beside no vLLM")


def test_a_program_that_hangs_or_is_none(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("qaic-util", "")
    program = tmp_path / "programs" / "qaic-util"
    program.write_text("no program\n")
    assert "cannot be run" in cards(tmp_path)["QAIC devices"].what
    program.write_text(f"#!{sys.executable}\nimport time; time.sleep(60)\n")
    monkeypatch.setattr("backend.doctor.program.ASK_S", 0.2)
    assert "did not answer" in cards(tmp_path)["QAIC devices"].what


def test_a_program_outside_of_path(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the vendor installs it to."""
    install("qaic-util", ONE_A_LINE)
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    plan = make_plan(read_settings({"target": "qaic"}))
    assert by_name(check_cards(plan, {}, tmp_path / "nowhere"))["QAIC devices"].state == "failed"
    assert by_name(check_cards(plan, {}, tmp_path / "programs"))["QAIC devices"].state == "ok"


SMI = "0, NVIDIA H200, 143771, 143000\n1, NVIDIA H200, 143771, 9000\n"


@pytest.mark.parametrize(
    ("flags", "engine", "state", "words"),
    [
        ({}, "GPUs of the vision encoder", "ok", "0 (143,000 MiB free)"),
        ({}, "GPUs of the language decoder", "warning", "GPU 1 has 9,000 of 143,771 MiB free"),
        ({"language_devices": "2"}, "GPUs of the language decoder", "failed", "no GPU 2"),
        (
            {"tensor_parallel_size": 2}, "GPUs of the vision encoder", "failed",
            "1 GPU(s) for --tensor-parallel-size 2",
        ),
        ({"topology": "fused"}, "GPUs of the engine", "ok", "0 (143,000 MiB free)"),
    ],
)  # fmt: skip
def test_gpus(install: Install, flags: dict[str, Any], engine: str, state: str, words: str) -> None:
    install("nvidia-smi", SMI)
    found = by_name(check_gpus(make_plan(read_settings({"target": "cuda", **flags}))))
    assert (found[engine].state, words in found[engine].what) == (state, True), found[engine]


def test_no_gpu_program(install: Install) -> None:
    plan = make_plan(read_settings({"target": "cuda"}))
    assert by_name(check_gpus(plan))["NVIDIA GPUs"].state == "failed"
    install("nvidia-smi", "\n")
    assert "tells of none" in by_name(check_gpus(plan))["NVIDIA GPUs"].what


def doctor(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(repository() / "launch.py"), "doctor", *words],
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_command_tells_programs_and_its_exit_status() -> None:
    well = doctor("--json", "--target", "cpu", "--port", "0")
    assert well.returncode == 0, well.stdout
    report = json.loads(well.stdout)
    assert report["ok"] is True
    assert {f["state"] for f in report["findings"]} == {"ok"}
    assert {"vLLM", "platform", "memory", "model files", "buckets", "page", "tunnel"} == {
        finding["name"] for finding in report["findings"]
    }


def test_the_command_tells_people_what_to_do() -> None:
    bad = doctor("--target", "qaic", "--port", "0")
    assert bad.returncode == 1
    failing = [line for line in bad.stdout.splitlines() if line.startswith("FAILED")]
    assert any("Platform SDK" in line for line in failing)
    assert all(line.count(": ") >= 2 for line in failing)
    refused = doctor("--heights", "364", "--widths", "532,910")
    assert refused.returncode == 2
