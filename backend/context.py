"""Fitting a conversation into the context: the oldest turns are left out first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from backend.errors import InputError
from backend.intake.prepare import Picture, place_together
from backend.plan import Plan
from backend.prompts import Prompt, Tokenizer, chat_prompt, generate_prompt
from backend.types import ChatRequest, Method, Turn


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """A prompt that leaves room for an answer.

    `images` are the indices, into the request's images, of those still in it, in order, and
    `pictures` are they as they are placed in one request with each other.
    """

    prompt: Prompt
    images: tuple[int, ...]
    pictures: tuple[Picture, ...]
    image_tokens: int
    method: Method
    notes: tuple[str, ...] = ()


def fit_context(
    request: ChatRequest, pictures: Sequence[Picture], plan: Plan, tokenizer: Tokenizer
) -> FittedPrompt:
    """The prompt of as many of the latest turns as fit; a system turn always stays.

    `pictures` are each placed by itself: which of them share a request is decided here.
    Raises InputError (`prompt_too_long`) where the last turn does not fit alone.
    """
    has_template = bool(tokenizer.chat_template)
    method: Method = request.method or (plan.method if has_template else "generate")
    system = [turn for turn in request.turns if turn.role == "system"]
    dialogue = [turn for turn in request.turns if turn.role != "system"]
    first = len(dialogue) - 1 if method == "generate" else 0
    while True:
        kept = dialogue[first:]
        indices = _image_indices(request.turns, first)
        together = place_together([pictures[index] for index in indices], plan)
        image_tokens = sum(picture.placement.bucket.tokens for picture in together)
        if method == "generate":
            prompt = generate_prompt(kept[-1], plan.spec, tokenizer)
        else:
            prompt = chat_prompt([*system, *kept], plan.spec, tokenizer)
        if prompt.text_tokens + image_tokens < plan.ctx_len:
            notes = _notes(first, method)
            return FittedPrompt(prompt, indices, tuple(together), image_tokens, method, notes)
        if len(kept) == 1:
            raise _too_long(prompt.text_tokens, image_tokens, plan.ctx_len)
        first = _next_question(dialogue, first)


def _next_question(dialogue: Sequence[Turn], first: int) -> int:
    """Where the dialogue begins once its oldest question and answer are gone."""
    later = range(first + 1, len(dialogue))
    return next(index for index in later if dialogue[index].role == "user")


def _image_indices(turns: Sequence[Turn], first: int) -> tuple[int, ...]:
    """Indices, among all images, of those in the dialogue from its `first` turn on.

    Turns are told apart by their place: the same turn may be there twice.
    """
    indices: list[int] = []
    position = place = 0
    for turn in turns:
        if turn.role != "system":
            if place >= first:
                indices += range(position, position + len(turn.images))
            place += 1
        position += len(turn.images)
    return tuple(indices)


def _notes(left_out: int, method: Method) -> tuple[str, ...]:
    if not left_out:
        return ()
    if method == "generate":
        return ("The explicit prompt takes the last message alone; earlier ones were left out.",)
    return (f"The {left_out} oldest messages were left out, they no longer fit the context.",)


def _too_long(text_tokens: int, image_tokens: int, ctx_len: int) -> InputError:
    images = f" and {image_tokens} for its images" if image_tokens else ""
    return InputError(
        "prompt_too_long",
        f"The message takes {text_tokens} tokens{images}; the model's context is {ctx_len} tokens "
        "with the answer. Shorten the text or remove images.",
    )
