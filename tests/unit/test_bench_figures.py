"""Medians, spreads, ratios and tables of a bench, from values worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backend.bench.figures import Answer, Burst, Spread, percentile
from backend.bench.goals import GOALS
from backend.bench.report import Report
from backend.bench.rounds import Measured


def answer(ttft_s: float, total_s: float, tokens: int = 11) -> Answer:
    return Answer(ttft_s, total_s, tokens, "")


def test_a_spread_is_median_least_and_most() -> None:
    assert Spread.of([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0, 3)
    assert Spread.of([4.0, 1.0, 2.0, 3.0]).median == 2.5
    with pytest.raises(ValueError, match="no values"):
        Spread.of([])


@pytest.mark.parametrize(
    ("share", "value"), [(0.99, 100.0), (0.98, 99.0), (0.5, 51.0), (0.0, 2.0), (1.0, 101.0)]
)
def test_a_percentile_is_a_measured_value(share: float, value: float) -> None:
    """Of a hundred, the 99th is one that all but one do not exceed."""
    assert percentile([float(number) for number in range(101, 1, -1)], share) == value


def test_a_percentile_of_nothing() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 0.5)


def test_a_burst_counts_all_tokens_over_the_whole_time() -> None:
    burst = Burst((answer(1.0, 2.0, 30), answer(3.0, 4.0, 50), answer(2.0, 4.0, 20)), 4.0)
    assert (burst.tokens_per_s, burst.ttft_s, burst.p99_ttft_s) == (25.0, 2.0, 3.0)


@pytest.fixture
def report() -> Report:
    """Split is slower alone and faster under load; the page keeps 90 per cent of bare engines."""
    split, fused, bare, page = Measured(), Measured(), Measured(), Measured()
    split.new = [answer(0.5, 1.0), answer(0.6, 1.2), answer(9.0, 9.5)]
    fused.new = [answer(0.5, 1.0)]
    split.same, fused.same = [answer(0.1, 0.6)], [answer(0.2, 0.7)]
    split.load, fused.load = (
        [Burst((answer(1.0, 2.0, 60),), 1.0)],
        [Burst((answer(2.0, 3.0),), 1.1)],
    )
    bare.load, page.load = [Burst((answer(1, 2, 100),), 1.0)], [Burst((answer(1, 2, 90),), 1.0)]
    split.many, fused.many = [Burst((answer(2.0, 2.5),), 3.0)], [Burst((answer(4.0, 4.5),), 5.0)]
    return Report(
        {"split": split, "fused": fused, "bare": bare, "page": page},
        ready_s={"vision": 10.0, "language": 20.0, "both": 24.0, "fused": 18.0},
        parameters={"vision": 60, "language": 40, "fused": 100},
        peak_bytes={"split": 1500, "fused": 1000},
        peaks={"split": [500 * 2**20, 600 * 2**20, 700 * 2**20], "fused": [500 * 2**20, 2**30]},
        settings={"model": "bifocal-demo"},
        machine={"cores": 2},
    )


def test_ratios_are_of_medians(report: Report) -> None:
    assert report.ratios() == pytest.approx(
        {
            "latency_new_image": 1.2,
            "ttft_new_image": 1.2,
            "ttft_same_image": 0.2,
            "ttft_same_image_fused": 0.5,
            "throughput_16": 6.0,
            "p99_ttft_16": 0.5,
            "multi_image_4": 0.5,
            "page_overhead_16": 0.9,
            "weights": 1.0,
            "ready_s": 1.2,
            "memory": 1.5,
        }
    )


def test_json_has_every_ratio_by_name_and_those_that_are_missed(report: Report) -> None:
    told = report.as_json()
    assert told["latency_new_image"] == 1.2
    assert told["missed"] == ["latency_new_image", "ttft_new_image", "page_overhead_16"]
    assert {goal.name for goal in GOALS} <= told.keys()
    split = told["sides"]["split"]
    assert split["new image, 1 stream: total, s"] == {
        "median": 1.2, "least": 1.0, "most": 9.5, "count": 3,
    }  # fmt: skip
    assert split["1 stream: tokens/s decoded"]["median"] == 20.0


def test_the_text_says_what_is_missed_and_by_how_much(report: Report) -> None:
    lines = report.text().splitlines()
    (latency,) = (line for line in lines if line.startswith("latency_new_image"))
    assert latency.split()[:5] == ["latency_new_image", "1.20", "<=", "1.05", "MISSED"]
    (throughput,) = (line for line in lines if line.startswith("throughput_16"))
    assert throughput.split()[:5] == ["throughput_16", "6.00", ">=", "1.10", "met"]
    assert "ready both: 24.0 s" in lines
    assert "memory split: 0 MiB; the app 500, its engines 600 and 700" in lines
    assert any("0.600 (0.500 to 9.000)" in line for line in lines)


@pytest.mark.parametrize(
    ("left_out", "unmeasured"),
    [
        ("page", {"page_overhead_16"}),
        ("bare", {"page_overhead_16"}),
        (
            "fused",
            {"latency_new_image", "ttft_new_image", "ttft_same_image", "ttft_same_image_fused",
             "throughput_16", "p99_ttft_16", "multi_image_4"},
        ),
    ],
)  # fmt: skip
def test_a_side_left_out_leaves_its_ratios_open(
    report: Report, left_out: str, unmeasured: set[str]
) -> None:
    sides: dict[str, Any] = {n: side for n, side in report.measured.items() if n != left_out}
    fewer = replace(report, measured=sides)
    assert {name for name, value in fewer.ratios().items() if value is None} == unmeasured
    assert fewer.as_json()[min(unmeasured)] is None
    assert "not measured" in fewer.text()
