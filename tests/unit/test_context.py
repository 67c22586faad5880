"""Fitting a conversation into the context: the oldest turns go first, images go with their turn."""

import dataclasses
from typing import Any

import pytest
from PIL import Image

from backend.catalog.prompt_style import ExplicitPrompt, Placeholders
from backend.context import fit_context
from backend.errors import InputError
from backend.intake.prepare import Picture
from backend.placement import Bucket, Placement
from backend.plan import Plan
from backend.prompts import ImageSlot, Prompt
from backend.types import ChatRequest, ImageInput, LoadedImage, Turn

IMAGE = ImageInput("cat.png", "path")
BUCKET = Bucket(56, 280, (56, 280), 20)


class LetterTokenizer:
    """One token a letter, and a template of `S:`, `U:` and `A:` before each turn."""

    chat_template: str | None = "yes"

    def apply_chat_template(self, conversation: Any, **options: Any) -> str:
        return "".join(map(self._turn, conversation)) + "A:"

    def _turn(self, message: Any) -> str:
        content = message["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        name = str(message["role"])[0].upper()
        return f"{name}:" + "".join(p.get("text", "#") for p in parts)

    def encode(self, text: str, **options: Any) -> list[int]:
        return [ord(letter) for letter in text]

    def convert_tokens_to_ids(self, tokens: str) -> int:
        return 0

    def get_added_vocab(self) -> dict[str, int]:
        return {"#": 0}


def small(plan: Plan, ctx_len: int) -> Plan:
    """The plan with a context of a few letters and `#` for an image."""
    spec = dataclasses.replace(
        plan.spec,
        image_token="#",
        chat_image="#",
        prompt=ExplicitPrompt("Q:{placeholders}{question}A:", Placeholders("#")),
    )
    return dataclasses.replace(plan, ctx_len=ctx_len, spec=spec)


def picture(number: int) -> Picture:
    loaded = LoadedImage(Image.new("RGB", (1, 1)), str(number), 1, 1, "cat.png")
    return Picture(loaded, Placement(BUCKET, "stretch", 1.0), f"digest {number}")


def text(prompt: Prompt) -> str:
    """The prompt with its images' numbers in place."""
    return "".join(
        f"<{part.index}>" if isinstance(part, ImageSlot) else "".join(map(chr, part))
        for part in prompt.parts
    )


def fit(plan: Plan, ctx_len: int, *turns: Turn, **options: Any) -> Any:
    images = sum(len(turn.images) for turn in turns)
    request = ChatRequest(turns, **options)
    pictures = [picture(number) for number in range(images)]
    return fit_context(request, pictures, small(plan, ctx_len), LetterTokenizer())


SYSTEM = Turn("system", "Be brief")
TALK = (
    Turn("user", "one", (IMAGE,)),
    Turn("assistant", "ONE"),
    Turn("user", "two", (IMAGE, IMAGE)),
    Turn("assistant", "TWO"),
    Turn("user", "three", (IMAGE,)),
)


def test_all_of_it_where_it_fits(plan: Plan) -> None:
    fitted = fit(plan, 1000, SYSTEM, *TALK)
    assert text(fitted.prompt) == "S:Be briefU:<0>oneA:ONEU:<1><2>twoA:TWOU:<3>threeA:"
    assert (fitted.images, fitted.image_tokens) == ((0, 1, 2, 3), 80)
    assert (fitted.method, fitted.notes) == ("chat", ())


def test_the_oldest_question_goes_with_its_answer_and_image(plan: Plan) -> None:
    """S 10 + U 5 + A 5 + U 7 + A: 2, and three images of 20, is 89 with one letter's room."""
    fitted = fit(plan, 90, SYSTEM, *TALK)
    assert text(fitted.prompt) == "S:Be briefU:<0><1>twoA:TWOU:<2>threeA:"
    assert (fitted.images, fitted.image_tokens) == ((1, 2, 3), 60)
    assert fitted.notes == ("The 2 oldest messages were left out, they no longer fit the context.",)


def test_one_token_less_and_the_next_question_goes(plan: Plan) -> None:
    fitted = fit(plan, 89, SYSTEM, *TALK)
    assert text(fitted.prompt) == "S:Be briefU:<0>threeA:"
    assert fitted.images == (3,)
    assert "4 oldest" in fitted.notes[0]


def test_room_for_at_least_one_token_of_the_answer(plan: Plan) -> None:
    question = Turn("user", "abc")  # U:abcA: is 7 tokens
    assert fit(plan, 8, question).prompt.text_tokens == 7
    with pytest.raises(InputError):
        fit(plan, 7, question)


def test_equal_turns_keep_their_own_images(plan: Plan) -> None:
    """Two turns that are equal, even one object twice, must not be taken for each other."""
    same = Turn("user", "same", (IMAGE,))
    fitted = fit(plan, 34, same, Turn("assistant", "yes"), same)
    assert text(fitted.prompt) == "U:<0>sameA:"
    assert (fitted.images, fitted.image_tokens) == ((1,), 20)


def test_a_last_turn_too_long_alone_is_told_with_the_numbers(plan: Plan) -> None:
    with pytest.raises(InputError) as caught:
        fit(plan, 50, *TALK[:2], Turn("user", "x" * 30, (IMAGE,)))
    assert caught.value.code == "prompt_too_long"
    for number in ("34 tokens", "20 for its images", "context is 50"):
        assert number in caught.value.message


def test_a_text_too_long_does_not_speak_of_images(plan: Plan) -> None:
    with pytest.raises(InputError) as caught:
        fit(plan, 50, Turn("user", "x" * 100))
    assert "104 tokens" in caught.value.message
    assert "images;" not in caught.value.message


def test_the_explicit_prompt_takes_the_last_turn_alone(plan: Plan) -> None:
    fitted = fit(plan, 1000, *TALK, method="generate")
    assert text(fitted.prompt) == "Q:<0>threeA:"
    assert (fitted.images, fitted.method) == ((3,), "generate")


def test_a_model_without_a_chat_template_is_asked_explicitly(
    plan: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LetterTokenizer, "chat_template", None)
    assert fit(plan, 1000, Turn("user", "one")).method == "generate"


def test_two_questions_in_a_row_are_dropped_one_at_a_time(plan: Plan) -> None:
    """A stopped answer leaves a question without one."""
    turns = (Turn("user", "a" * 20), Turn("user", "b" * 5), Turn("user", "c"))
    assert text(fit(plan, 20, *turns).prompt) == "U:bbbbbU:cA:"


def test_a_row_may_prefer_its_own_prompt_to_a_template(plan: Plan) -> None:
    """vLLM has chat templates for models that bring none; their rows' own prompts come first."""
    spec = dataclasses.replace(plan.spec, method="generate")
    preferring = dataclasses.replace(plan, spec=spec)
    assert fit(preferring, 1000, Turn("user", "one")).method == "generate"
    assert fit(preferring, 1000, Turn("user", "one"), method="chat").method == "chat"
