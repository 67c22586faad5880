"""`request`: what would be sent for a question, without an engine and without a download."""

from __future__ import annotations

import argparse
import json

from backend.engines.local_tokenizer import local_tokenizer
from backend.plan import make_plan
from backend.request_preview import RequestPreview, preview_request
from backend.settings import Settings
from backend.types import Turn
from ui.command_line.ask import chosen_images
from ui.command_line.output import Output


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """The preview, as JSON or in words."""
    plan = make_plan(settings)
    preview = preview_request(
        plan,
        settings,
        Turn("user", arguments.prompt, chosen_images(arguments)),
        arguments.method or plan.method,
        local_tokenizer(plan),
    )
    output.json(preview.as_json()) if output.as_json else output.write(_text(preview))


def _text(preview: RequestPreview) -> str:
    """Every part under its name."""
    parts = preview.as_json()
    prompt = parts.pop("prompt")
    shown = prompt if prompt is not None else "(written by the model's own chat template)"
    lines = [f"prompt:\n{shown}\n"]
    lines += [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in parts.items()]
    return "\n".join(lines) + "\n"
