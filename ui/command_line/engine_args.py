"""`engine-args`: what vLLM would be started with, without starting anything."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from typing import Any

from backend.engines.args import engine_args
from backend.plan import make_plan
from backend.settings import Settings
from ui.command_line.output import Output


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """The arguments by engine, as JSON or as `vllm serve` lines."""
    roles = engine_args(make_plan(settings))
    if output.as_json:
        output.json(roles)
    else:
        output.write("\n".join(f"# {role}\n{serve_line(args)}\n" for role, args in roles.items()))


def serve_line(args: Mapping[str, Any]) -> str:
    """The same arguments as one `vllm serve` command."""
    words = ["vllm", "serve", str(args["model"])]
    for name, value in args.items():
        option = name.replace("_", "-")
        if name == "model" or value is None:
            continue
        if isinstance(value, bool):
            words.append(f"--{option}" if value else f"--no-{option}")
        elif isinstance(value, dict):
            words += [f"--{option}", json.dumps(value)]
        elif isinstance(value, list):
            words += [f"--{option}", *map(str, value)]
        else:
            words += [f"--{option}", str(value)]
    return shlex.join(words)
