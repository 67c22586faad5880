"""Env file: the lines of `.env` that say nothing, told once and in our words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dotenv.parser import Binding, parse_stream

from backend.errors import SettingError

LOG = logging.getLogger("bifocal")
READERS_LOG = "dotenv.main"


def warn_of_bad_lines(path: Path, prefix: str) -> None:
    """One warning a line that cannot be read, or that has one of our names and no value.

    A warning and no error, because the file is often shared with other programs. A line's content
    is not repeated: it may be a password. Raises SettingError where the file cannot be read at all.
    """
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8") as file:
            bindings = list(parse_stream(file))
    except UnicodeDecodeError:
        raise SettingError(
            f"The file {path.name} in this folder is not UTF-8 text: save it again as UTF-8."
        ) from None
    except OSError as fault:
        why = "you may not read it" if isinstance(fault, PermissionError) else "reading it failed"
        raise SettingError(
            f"The file {path.name} in this folder cannot be read: {why}. Mend or remove it."
        ) from None
    for binding in bindings:
        wrong = _wrong(binding, prefix)
        if wrong:
            LOG.warning("%s, line %d is left out: %s.", path.name, _line(binding), wrong)


@contextmanager
def silent_reader() -> Iterator[None]:
    """python-dotenv without its own words, which it repeats each time it reads the file."""
    log = logging.getLogger(READERS_LOG)
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _wrong(binding: Binding, prefix: str) -> str:
    if binding.error:
        return (
            "it is not NAME=value. A name stands before the =, a quote that is opened is closed, "
            "and after it only a # comment may follow"
        )
    ours = binding.key is not None and binding.key.upper().startswith(prefix)
    return "it has no = and no value; write NAME=value" if ours and binding.value is None else ""


def _line(binding: Binding) -> int:
    """Where the statement itself begins; the reader counts the empty lines before it to it."""
    text = binding.original.string
    return binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
