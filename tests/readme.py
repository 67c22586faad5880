"""The README's commands, as words, so that tests run what is written there."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

from backend.settings import repository

PYTHON = ".venv/bin/python"
VISION, OTHER_VISION, LANGUAGE = (f"http://127.0.0.1:{port}" for port in (8000, 8002, 8001))
"""Addresses that its commands have."""


def commands(section: str) -> list[list[str]]:
    """The commands of a section, in order, each from `launch.py` on."""
    text = (repository() / "README.md").read_text("utf-8")
    body = text.partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    found = []
    for block in re.findall(r"(?:^    .*\n)+", body, re.M):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line)
            found.append(words[1:] if words[0] == PYTHON else words)
    return found


def command(section: str, having: str, without: Sequence[str] = ()) -> list[str]:
    """The one command that has these letters, and none of the others."""
    (found,) = [
        words
        for words in commands(section)
        if having in " ".join(words) and not any(other in " ".join(words) for other in without)
    ]
    return found


def at(words: list[str], addresses: Mapping[str, str]) -> list[str]:
    """A command with other addresses."""
    changed = []
    for word in words:
        for old, new in addresses.items():
            word = word.replace(old, new)
        changed.append(word)
    return changed
