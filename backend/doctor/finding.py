"""Finding: one line of the doctor's report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was looked at, how it is, and what to do where it is not well."""

    name: str
    state: State
    what: str
    advice: str = ""

    def as_json(self) -> dict[str, str]:
        """The same for programs."""
        return asdict(self)


def ok(name: str, what: str) -> Finding:
    """Nothing to do."""
    return Finding(name, "ok", what)


def warning(name: str, what: str, advice: str) -> Finding:
    """It will work, but a person should know."""
    return Finding(name, "warning", what, advice)


def failed(name: str, what: str, advice: str) -> Finding:
    """It will not work."""
    return Finding(name, "failed", what, advice)
