"""Question: what every side of a bench is asked, and the side itself."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from backend.bench.figures import Answer


@dataclass(frozen=True, slots=True)
class Question:
    """One turn about pictures, to be answered greedily with exactly `tokens` tokens."""

    text: str
    pictures: tuple[Path, ...]
    tokens: int


class Side(Protocol):
    """One way to have questions answered."""

    async def ask(self, question: Question) -> Answer:
        """The answer, timed from here. Raises BifocalError."""
        ...
