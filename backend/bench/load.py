"""Load: many askers at once, each with questions one after the other."""

from __future__ import annotations

import time
from collections.abc import Sequence

from backend.bench.figures import Answer, Burst
from backend.bench.question import Question, Side
from backend.tasks import gather_or_cancel

TEXTS = (
    "Describe the image.",
    "How many shapes are there?",
    "What colour is the largest shape?",
    "What is in the middle of the picture?",
    "Is there a circle?",
    "What is in the upper left corner?",
    "Which colours are there?",
    "What is below the first shape?",
)
"""Questions that begin in different ways, so that none is the beginning of another's prompt."""


async def burst(side: Side, askers: Sequence[Sequence[Question]]) -> Burst:
    """All askers at the same time; each asks when its last question is answered."""
    started = time.perf_counter()
    answers = await gather_or_cancel(_one_asker(side, questions) for questions in askers)
    seconds = time.perf_counter() - started
    return Burst(tuple(answer for some in answers for answer in some), seconds)


async def _one_asker(side: Side, questions: Sequence[Question]) -> list[Answer]:
    return [await side.ask(question) for question in questions]
