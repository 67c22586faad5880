"""`engine-args`: what vLLM would be started with, without starting anything."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Mapping
from typing import Any

from backend.engines.args import engine_args
from backend.engines.qaic_args import VISIBLE_DEVICES, serve_environment
from backend.engines.serve_args import serve_args
from backend.plan import Plan, make_plan
from backend.settings import Settings
from ui.command_line.output import Output

FIRST_PORT = 8000
"""vLLM's own; the engine after takes the next, as both may be on one machine."""


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """The arguments by engine, as JSON or as `vllm serve` lines."""
    plan = make_plan(settings)
    remote = plan.topology == "remote"
    roles = serve_args(plan) if remote else engine_args(plan)
    if output.as_json:
        output.json(roles)
        return
    environment = serve_environment(plan)
    ports = {"port": FIRST_PORT}, {"port": FIRST_PORT + 1}
    lines = [f"# {remark}\n" for remark in _remarks(plan)]
    for (role, args), port in zip(roles.items(), ports, strict=False):
        more = port if len(roles) > 1 and not remote else {}
        lines.append(f"# {role}\n{serve_line({**args, **more}, environment)}\n")
    output.write("\n".join(lines))


def serve_line(args: Mapping[str, Any], environment: Mapping[str, str] | None = None) -> str:
    """The same arguments as one `vllm serve` command for a shell, behind its variables."""
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
    variables = [f"{name}={shlex.quote(value)}" for name, value in (environment or {}).items()]
    return " ".join([*variables, shlex.join(words)])


def _remarks(plan: Plan) -> list[str]:
    """What a person must know before running the lines on QAIC."""
    remarks = []
    if plan.qaic_mode == "aot":
        remarks.append(
            f"{VISIBLE_DEVICES} must not be set: it wins over both engines' device_group"
        )
    if plan.qaic_mode and plan.spec.remote_code:
        remarks.append(
            f"{plan.spec.hf_id} comes with code of its own, which --trust-remote-code runs"
        )
    return remarks
