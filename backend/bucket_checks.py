"""What is wrong with compiled sizes, said before an engine starts, and what to change.

Everything here raises SettingError (`bad_setting`).
"""

from __future__ import annotations

from collections.abc import Sequence

from backend.errors import SettingError
from backend.placement import Bucket

MAX_ASPECT = 200
"""`smart_resize` refuses a longer side of more than this many shorter ones."""

CONTROL_TOKENS = 64
"""Tokens kept free for the chat template and a short question."""


def check_pairs(heights: tuple[int, ...], widths: tuple[int, ...]) -> None:
    """Heights and widths, in pixels, are pairs: equally many, and positive."""
    if len(heights) != len(widths) or not heights:
        raise SettingError(
            f"--heights and --widths are pairs and must be equally long: there are {len(heights)} "
            f"heights and {len(widths)} widths."
        )
    if any(value < 1 for value in (*heights, *widths)):
        raise SettingError("--heights and --widths are pixels and must be positive.")


def refuse_twin(bucket: Bucket, others: Sequence[Bucket]) -> None:
    """The QAIC plugin's decoder finds the grid by the number of visual tokens alone."""
    twin = next((other for other in others if other.tokens == bucket.tokens), None)
    if twin:
        raise SettingError(
            f"The buckets {name_pair(twin)} and {name_pair(bucket)} both have {bucket.tokens} "
            "visual tokens, and the decoder tells buckets apart by that number: change one pair of "
            "--heights and --widths."
        )


def refuse_pairs(label: str) -> None:
    """For a family that has a size of its own."""
    raise SettingError(
        f"{label} has no dynamic resolution, so there is nothing to compile for other sizes: leave "
        "--heights and --widths out."
    )


def check_buckets(buckets: Sequence[Bucket], ctx_len: int, batched_tokens: int | None) -> None:
    """Every bucket fits the context beside a prompt, and one step of an engine.

    `ctx_len` is in tokens. `batched_tokens` is vLLM's `max_num_batched_tokens`, None where vLLM
    chooses: its encoder cache has the same size, and an image of more tokens is never scheduled.
    """
    largest = max(buckets, key=lambda bucket: bucket.tokens)
    if largest.tokens + CONTROL_TOKENS > ctx_len:
        raise SettingError(
            f"The bucket {name_pair(largest)} has {largest.tokens} visual tokens; with a prompt "
            f"({CONTROL_TOKENS} tokens at least) it does not fit the context of {ctx_len}. Raise "
            "--ctx-len or choose smaller --heights and --widths."
        )
    if batched_tokens is not None and largest.tokens > batched_tokens:
        raise SettingError(
            f"The bucket {name_pair(largest)} has {largest.tokens} visual tokens, but the engine "
            f"takes {batched_tokens} tokens in one step (max_num_batched_tokens, which is its "
            "encoder cache's size too), so it could never be scheduled. Choose smaller --heights "
            "and --widths."
        )


def check_own_sizes(sizes: Sequence[Bucket], ctx_len: int, batched_tokens: int | None) -> None:
    """A family with sizes of its own can be given its smallest one; limits as above."""
    smallest = min(sizes, key=lambda size: size.tokens)
    if smallest.tokens + CONTROL_TOKENS > ctx_len:
        raise SettingError(
            f"An image takes {smallest.tokens} visual tokens; with a prompt ({CONTROL_TOKENS} "
            f"tokens at least) it does not fit the context of {ctx_len}. Raise --ctx-len."
        )
    if batched_tokens is not None and smallest.tokens > batched_tokens:
        raise SettingError(
            f"An image takes {smallest.tokens} visual tokens, but the model's row has the engine "
            f"take {batched_tokens} tokens in one step (max_num_batched_tokens): raise it there."
        )


def name_pair(bucket: Bucket) -> str:
    """Height x width, as messages have it."""
    return f"{bucket.height}x{bucket.width}"
