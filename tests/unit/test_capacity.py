"""ARCHITECTURE.md's table of what embeddings weigh, computed from the catalogue."""

from __future__ import annotations

import re

from backend.plan import make_plan
from backend.settings import read_settings, repository

ROW = re.compile(r"^\| `(?P<model>[^`]+)` \| (?P<width>\d+) \| (?P<sizes>[\d:;, ]+) \|$", re.M)
BYTES_OF_A_VALUE = 2


def test_bytes_a_picture_by_bucket() -> None:
    text = (repository() / "ARCHITECTURE.md").read_text("utf-8")
    found = list(ROW.finditer(text.partition("## Capacity")[2]))
    assert len(found) == 6
    for row in found:
        plan = make_plan(read_settings({"target": "qaic", "model": row["model"]}))
        sizes = {
            int(tokens): int(size.replace(",", ""))
            for tokens, size in re.findall(r"(\d+): ([\d,]+?)(?:;|$)", row["sizes"])
        }
        assert {bucket.tokens for bucket in plan.buckets} == set(sizes), row["model"]
        for tokens, size in sizes.items():
            assert size == tokens * int(row["width"]) * BYTES_OF_A_VALUE, row["model"]
