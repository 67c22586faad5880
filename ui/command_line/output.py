"""Where a command writes: its answer alone on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, TextIO

from backend.errors import BifocalError


@dataclass(frozen=True, slots=True)
class Output:
    """A command's answer stream, and whether it is to be JSON."""

    answer: TextIO
    as_json: bool

    def write(self, text: str) -> None:
        """More of the answer, at once."""
        self.answer.write(text)
        self.answer.flush()

    def json(self, value: Any) -> None:
        """The answer as JSON."""
        self.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")

    def error(self, error: BifocalError) -> None:
        """An error: an object on stdout for programs, a sentence on stderr for people."""
        if self.as_json:
            self.json(error.as_json())
        else:
            print(f"error: {error.message} [{error.code}]", file=sys.stderr)


def asks_for_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the flags of a command line, which end at `--`.

    Asked before they are parsed: what is wrong with them is told as JSON, too.
    """
    return "--json" in takewhile(lambda word: word != "--", words)


def claim_stdout(as_json: bool) -> Output:
    """Keep stdout for the answer; whatever else this process or its children print goes to stderr.

    The file descriptor itself is moved, because engine processes inherit it.
    """
    sys.stdout.flush()
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
    os.dup2(2, 1)
    return Output(answer, as_json)
