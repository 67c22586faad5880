"""Seams: tokens that become one where an image's tokens meet text, or another image's.

Gemma 3 writes an image between two pairs of line breaks, and its tokenizer has tokens for up to
four. Where upstream's processor puts an image into a prompt, a line break beside a pair becomes the
one token of three; an image that is rendered alone has no neighbours yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from backend.catalog.spec import ModelSpec

Seams = Mapping[tuple[int, int], int]
"""Two neighbouring tokens to the one in their place."""

BREAKS = ("\n", "\n\n", "\n\n\n", "\n\n\n\n")
JOINED = ((1, 2), (2, 1), (2, 2))
"""Runs of line breaks, by their lengths, that upstream joins."""


def seams_of(spec: ModelSpec, tokenizer: Any) -> Seams:
    """Those of the model; most have none."""
    if not spec.joins_line_breaks:
        return {}
    vocabulary = tokenizer.get_vocab()
    one = {len(text): vocabulary[text] for text in BREAKS}
    return {(one[left], one[right]): one[left + right] for left, right in JOINED}


def join(tokens: list[int], more: list[int] | tuple[int, ...], seams: Seams) -> int:
    """Append `more`, joined at the seam; returns how many tokens that saved, 0 or 1.

    The token of a seam counts as the first of `more`.
    """
    joined = seams.get((tokens[-1], more[0])) if tokens and more else None
    if joined is None:
        tokens += more
        return 0
    tokens[-1:] = [joined, *more[1:]]
    return 1
