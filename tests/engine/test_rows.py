"""Rows between the engines: what the encoder's pooler answers, and what is refused of it."""

from __future__ import annotations

import pytest
import torch
from vllm.multimodal.inputs import PlaceholderRange

from backend.engines.handover import take_rows
from backend.engines.vision_only import with_sum
from backend.errors import EngineError

PLACE = PlaceholderRange(offset=1, length=3)


def answer(rows: torch.Tensor) -> torch.Tensor:
    """As the pooler makes it of rows from two steps of the engine."""
    return with_sum([rows[:1], rows[1:]])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("width", [4, 12])
def test_rows_arrive_as_they_were(dtype: torch.dtype, width: int) -> None:
    """Wider ones too: a model with deepstack has several levels of them."""
    rows = torch.randn(3, width).to(dtype)
    assert torch.equal(take_rows(answer(rows), PLACE, 4), rows)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_one_value_that_is_not_finite_is_refused(value: float) -> None:
    rows = torch.zeros(3, 4)
    rows[1, 2] = value
    with pytest.raises(EngineError, match="not finite"):
        take_rows(answer(rows), PLACE, 4)


def test_infinities_that_cancel_out_are_refused() -> None:
    rows = torch.zeros(3, 4)
    rows[0, 0], rows[1, 0] = float("inf"), float("-inf")
    with pytest.raises(EngineError, match="not finite"):
        take_rows(answer(rows), PLACE, 4)


def test_large_values_whose_sum_overflows_are_taken() -> None:
    rows = torch.full((3, 4), 60_000.0, dtype=torch.float16)
    sent = answer(rows)
    assert not torch.isfinite(sent[-1]).any()
    assert torch.equal(take_rows(sent, PLACE, 4), rows)


@pytest.mark.parametrize("shape", [(2, 4), (4, 4), (3, 5), (0, 4)])
def test_a_wrong_number_or_width_is_refused(shape: tuple[int, int]) -> None:
    with pytest.raises(EngineError, match="3 rows of a multiple of 4"):
        take_rows(answer(torch.zeros(shape)), PLACE, 4)
