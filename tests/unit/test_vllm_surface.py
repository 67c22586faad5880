"""Bifocal runs on vLLM 0.23, which the QAIC plugin is for, to 0.32: what it uses is in both."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from backend.catalog import ROWS
from backend.engines.args import engine_args
from backend.engines.version import installed_vllm
from backend.plan import make_plan
from backend.settings import read_settings

from .vllm_surface import CALLS, ENGINE_ARGS, FIELDS, imported, record

GOLDEN = Path(__file__).parent / "golden"
RECORDED = ("0.23.0", "0.32.0")


def recorded(version: str) -> Any:
    return json.loads((GOLDEN / f"vllm_{version}.json").read_text("utf-8"))


@pytest.mark.parametrize("version", RECORDED)
def test_every_import_is_there(version: str) -> None:
    missing = {f"{module}:{name}" for module, name in imported()} - set(recorded(version)["names"])
    assert not missing


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("name", CALLS)
def test_every_call_fits(version: str, name: str) -> None:
    by_place, by_name = CALLS[name]
    parameters = recorded(version)["parameters"][name]
    assert parameters is not None, "it is not there"
    assert len(parameters["by_place"]) >= by_place
    assert set(by_name) <= {*parameters["by_place"][by_place:], *parameters["by_name"]}


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("name", FIELDS)
def test_every_field_is_there(version: str, name: str) -> None:
    fields = recorded(version)["fields"][name]
    assert fields is not None, "it is not there"
    assert set(FIELDS[name]) <= set(fields)


@pytest.mark.parametrize("version", RECORDED)
@pytest.mark.parametrize("target", ["cpu", "cuda", "qaic"])
def test_every_engine_argument_is_there(version: str, target: str) -> None:
    """Of every row that runs on the target, in every mode and topology."""
    known = set(recorded(version)["fields"][ENGINE_ARGS])
    for row in ROWS:
        choices: list[dict[str, str]] = [{}]
        if target == "qaic":
            choices = [{"qaic_mode": mode} for mode in row.qaic_modes]
        elif row.split:
            choices.append({"topology": "fused"})
        for chosen in choices:
            plan = make_plan(read_settings({"model": row.key, "target": target, **chosen}))
            for role, args in engine_args(plan).items():
                assert set(args) <= known, (row.key, role)


def test_the_record_is_of_the_installed_version() -> None:
    version = installed_vllm()
    if version not in RECORDED:
        pytest.skip(f"vLLM {version} is not recorded")
    found = importlib.util.find_spec("vllm")
    assert found
    assert found.origin
    assert record(Path(found.origin).parent.parent) == recorded(str(version))
