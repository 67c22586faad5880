"""The settings drawer as a browser gives it back: right values are kept, everything else is not."""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.plan import Plan, make_plan
from backend.settings import read_settings
from backend.types import ChatRequest, Turn
from backend.validate import check_request
from ui.inputs import read_options
from ui.preferences import LONGEST_PROMPT, Preferences, read

GIVEN = ["Be brief.", 0.7, 0.9, 100, 7, "generate", "pad"]


@cache
def demo_plan() -> Plan:
    return make_plan(read_settings({"target": "cpu"}))


def with_one(place: int, value: Any) -> list[Any]:
    return [*GIVEN[:place], value, *GIVEN[place + 1 :]]


def test_what_was_stored_comes_back(plan: Plan) -> None:
    assert read(GIVEN, plan).values() == GIVEN


def test_an_empty_seed_comes_back(plan: Plan) -> None:
    assert read(with_one(4, None), plan).seed is None


@pytest.mark.parametrize("stored", [None, "", 7, {}, [], GIVEN[:6], [*GIVEN, 1], {"0": 1}])
def test_what_is_no_drawer_gives_the_defaults(stored: Any, plan: Plan) -> None:
    assert read(stored, plan) == Preferences.defaults(plan)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, None), (0, 7), (0, "x" * (LONGEST_PROMPT + 1)),
        (1, -0.1), (1, 2.1), (1, "1"), (1, True), (1, float("nan")), (1, None),
        (2, 0), (2, 1.1), (2, float("inf")), (2, [1]),
        (3, 0), (3, 16385), (3, 1.5), (3, True), (3, None), (3, 10**400),
        (4, -1), (4, 2**60), (4, 0.5), (4, "0"), (4, False),
        (5, "Chat"), (5, None), (5, ["chat"]),
        (6, "crop"), (6, 1),
    ],
)  # fmt: skip
def test_one_wrong_value_is_the_default_and_the_others_stay(
    place: int, value: Any, plan: Plan
) -> None:
    defaults = Preferences.defaults(plan).values()
    assert read(with_one(place, value), plan).values() == with_one(place, defaults[place])


def test_max_tokens_that_this_model_does_not_allow_are_the_default() -> None:
    small = make_plan(read_settings({"target": "cpu", "ctx_len": "2000"}))
    assert read(with_one(3, 2000), small).max_tokens == 2000
    assert read(with_one(3, 2001), small).max_tokens == 256


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(st.lists(json_values, min_size=7, max_size=7) | json_values)
def test_whatever_comes_back_can_be_asked_with(stored: Any) -> None:
    """Nothing that a browser sends may break the page or a question."""
    plan = demo_plan()
    options = read_options(*read(stored, plan).values())
    request = ChatRequest((Turn("user", "x"),), options.sampling, options.method, options.fit)
    check_request(request, plan)
