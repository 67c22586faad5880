"""The page about families names exactly those that are run, and says why others are not."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from backend.catalog import ROWS, ModelSpec
from tests.engine import families
from tests.engine.families.table import FAMILIES
from tests.engine.families.tiny import TinyFamily

PAGE = Path(str(families.__file__)).with_name("README.md")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the page's table."""

    keys: tuple[str, ...]
    architecture: str
    run: str
    remark: str


def lines() -> list[Line]:
    found = []
    for text in PAGE.read_text("utf-8").splitlines():
        if text.startswith("| `"):
            keys, architecture, run, remark = (cell.strip() for cell in text.split("|")[1:-1])
            found.append(Line(tuple(re.findall("`(.+?)`", keys)), architecture, run, remark))
    return found


LINES = lines()
BY_KEY = {key: line for line in LINES for key in line.keys}


def runs(row: ModelSpec) -> list[TinyFamily]:
    """The tiny checkpoints that stand for the row: of its class, with its image token."""
    return [
        family
        for family in FAMILIES
        if (family.architecture, family.placeholder) == (row.architecture, row.image_token)
    ]


def test_every_row_has_one_line() -> None:
    counted = Counter(key for line in LINES for key in line.keys)
    assert counted == Counter(row.key for row in ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_line_says_how_the_row_is_run(row: ModelSpec) -> None:
    line = BY_KEY[row.key]
    assert line.architecture == row.architecture
    families = runs(row)
    if not families:
        assert line.run == "no"
        assert line.remark
    else:
        assert {family.split for family in families} == {row.split}
        assert line.run == ("split and fused" if row.split else "fused")


def test_every_checkpoint_stands_for_a_row() -> None:
    """InternVL as in transformers has none: models with it are derived from their config."""
    rowless = {family.name for family in FAMILIES if not any(family in runs(row) for row in ROWS)}
    assert rowless == {"internvl"}


def test_dropped_families_say_since_when() -> None:
    said = {
        key: line.remark.rpartition(" ")[2]
        for key, line in BY_KEY.items()
        if "up to" in line.remark
    }
    assert said == {row.key: row.last_vllm for row in ROWS if row.last_vllm}


def test_all_architectures_of_the_qaic_table_are_run_in_split() -> None:
    assert {
        row.key for row in ROWS if row.qaic_modes and BY_KEY[row.key].run != "split and fused"
    } == set()
