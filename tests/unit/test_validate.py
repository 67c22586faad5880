"""Requests that no engine could answer are refused before anything is done for them."""

from typing import Any

import pytest

from backend.errors import InputError
from backend.plan import Plan
from backend.types import ChatRequest, ImageInput, Sampling, Turn
from backend.validate import check_request

IMAGE = ImageInput("cat.png", "path")


def refusal(request: ChatRequest, plan: Plan) -> InputError:
    with pytest.raises(InputError) as caught:
        check_request(request, plan)
    return caught.value


def ask(text: str = "Hello", **options: Any) -> ChatRequest:
    return ChatRequest((Turn("user", text),), **options)


def test_a_plain_question_passes(plan: Plan) -> None:
    check_request(ask(), plan)


@pytest.mark.parametrize("text", ["", "   ", "\n\t ", "\u00a0\u2003"])
def test_an_empty_prompt(plan: Plan, text: str) -> None:
    error = refusal(ask(text), plan)
    assert error.code == "bad_request"
    assert "empty" in error.message


@pytest.mark.parametrize(
    "turns",
    [
        (),
        (Turn("system", "Be brief."),),
        (Turn("user", "Hello"), Turn("assistant", "Hello")),
    ],
)
def test_the_last_turn_must_be_the_persons(plan: Plan, turns: tuple[Turn, ...]) -> None:
    assert refusal(ChatRequest(turns), plan).code == "bad_request"


def test_as_many_images_as_allowed(plan: Plan) -> None:
    check_request(ChatRequest((Turn("user", "Look", (IMAGE,) * 8),)), plan)


def test_too_many_images_in_the_whole_conversation(plan: Plan) -> None:
    """Earlier turns count: their images are sent again."""
    turns = (
        Turn("user", "Look", (IMAGE,) * 5),
        Turn("assistant", "Yes."),
        Turn("user", "And here", (IMAGE,) * 4),
    )
    error = refusal(ChatRequest(turns), plan)
    assert error.code == "too_many_images"
    assert "9 images" in error.message
    assert "at most 8" in error.message


@pytest.mark.parametrize("role", ["assistant", "system"])
def test_only_the_persons_messages_carry_images(plan: Plan, role: Any) -> None:
    """Templates have no place for others; the image of a later turn would be taken for it."""
    turns = (Turn(role, "Here", (IMAGE,)), Turn("user", "What is it?"))
    assert refusal(ChatRequest(turns), plan).code == "bad_request"


@pytest.mark.parametrize(
    ("sampling", "word"),
    [
        (Sampling(max_tokens=0), "Max tokens"),
        (Sampling(max_tokens=-1), "Max tokens"),
        (Sampling(max_tokens=16385), "16384"),
        (Sampling(temperature=-0.1), "Temperature"),
        (Sampling(temperature=2.1), "Temperature"),
        (Sampling(temperature=float("nan")), "Temperature"),
        (Sampling(temperature=float("inf")), "Temperature"),
        (Sampling(top_p=0.0), "Top-p"),
        (Sampling(top_p=1.1), "Top-p"),
        (Sampling(top_p=float("nan")), "Top-p"),
        (Sampling(seed=-1), "seed"),
        (Sampling(seed=2**63), "seed"),
    ],
)
def test_sampling_out_of_range(plan: Plan, sampling: Sampling, word: str) -> None:
    error = refusal(ask(sampling=sampling), plan)
    assert error.code == "bad_request"
    assert word in error.message


@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(1, 0.0, 1.0, 0),
        Sampling(16384, 2.0, 0.01, 2**63 - 1),
        Sampling(seed=None),
    ],
)
def test_sampling_at_its_bounds(plan: Plan, sampling: Sampling) -> None:
    check_request(ask(sampling=sampling), plan)


@pytest.mark.parametrize("options", [{"method": "guess"}, {"fit": "crop"}])
def test_unknown_method_or_fit(plan: Plan, options: Any) -> None:
    assert refusal(ask(**options), plan).code == "bad_request"
