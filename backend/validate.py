"""Checks on a request that need nothing but the plan; each message says what is allowed."""

from __future__ import annotations

from backend.errors import InputError
from backend.plan import Plan
from backend.types import ChatRequest, Sampling

MAX_TEMPERATURE = 2.0
MAX_SEED = 2**63 - 1


def check_request(request: ChatRequest, plan: Plan) -> None:
    """Raises InputError: `bad_request`, `too_many_images`."""
    if not request.turns or request.turns[-1].role != "user":
        raise InputError("bad_request", "The conversation must end with a message to answer.")
    if not request.turns[-1].text.strip():
        raise InputError(
            "bad_request", "The question (prompt) is empty: write what you want to know."
        )
    check_image_count(sum(len(turn.images) for turn in request.turns), plan)
    if any(turn.images for turn in request.turns if turn.role != "user"):
        raise InputError("bad_request", "Images belong to the messages of the user.")
    if request.method not in (None, "chat", "generate"):
        raise InputError("bad_request", "The method is chat or generate.")
    if request.fit not in (None, "stretch", "pad"):
        raise InputError("bad_request", "The fit is stretch or pad.")
    check_sampling(request.sampling, plan)


def check_image_count(images: int, plan: Plan) -> None:
    """Raises InputError (`too_many_images`) for more images than one conversation may have."""
    if images > plan.max_images:
        raise InputError(
            "too_many_images",
            f"There are {images} images in the conversation; {plan.label} takes at most "
            f"{plan.max_images}. Remove some, or start a new conversation.",
        )


def check_sampling(sampling: Sampling, plan: Plan) -> None:
    """Raises InputError (`bad_request`) for a value outside its range, NaN among them."""
    if not 1 <= sampling.max_tokens <= plan.ctx_len:
        raise InputError("bad_request", f"Max tokens must be between 1 and {plan.ctx_len}.")
    if not 0 <= sampling.temperature <= MAX_TEMPERATURE:
        raise InputError("bad_request", f"Temperature must be between 0 and {MAX_TEMPERATURE:g}.")
    if not 0 < sampling.top_p <= 1:
        raise InputError("bad_request", "Top-p must be above 0 and at most 1.")
    if sampling.seed is not None and not 0 <= sampling.seed <= MAX_SEED:
        raise InputError("bad_request", "The seed must be a whole number, 0 or more.")
