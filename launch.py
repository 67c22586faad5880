"""Bifocal's command line, and the composition root: settings -> backend -> app -> serve.

    python launch.py [COMMAND] [flags]

This module is imported again by every engine process, so it imports nothing heavy.
"""

from __future__ import annotations

import importlib
import logging
import os
import signal
import sys
import warnings
from collections.abc import Sequence

from backend.engines.environment import prepare_environment
from backend.errors import BifocalError
from backend.plan import make_plan
from backend.settings import read_settings
from ui.command_line.output import asks_for_json, claim_stdout
from ui.command_line.parser import build_parser, setting_flags

COMMANDS = {
    "serve": "ui.command_line.serve",
    "ask": "ui.command_line.ask",
    "models": "ui.command_line.models",
    "request": "ui.command_line.request",
    "buckets": "ui.command_line.buckets",
    "engine-args": "ui.command_line.engine_args",
    "bench": "ui.command_line.bench",
    "doctor": "ui.command_line.doctor",
}
INTERRUPTED = 130


def main(words: Sequence[str]) -> int:
    """Run one command; the exit status of the contract."""
    output = claim_stdout(as_json=asks_for_json(words))
    try:
        arguments = build_parser().parse_args(words)
        settings = read_settings(setting_flags(arguments))
        prepare_environment(make_plan(settings))
        # Deprecations inside vLLM's dependencies are not for the person at this terminal.
        warnings.simplefilter("ignore", FutureWarning)
        logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(message)s")
        logging.getLogger("bifocal").setLevel(logging.INFO)
        command = importlib.import_module(COMMANDS[arguments.command or "serve"])
        status: int | None = command.run(arguments, settings, output)
    except BifocalError as error:
        output.error(error)
        return error.exit_status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our answer has gone, as with `| head`.
        os.dup2(os.open(os.devnull, os.O_WRONLY), output.answer.fileno())
        return 128 + signal.SIGPIPE
    return status or 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
