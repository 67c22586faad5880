"""`models`: the catalogue, one row a family, and what the installed vLLM can run of it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence, Set
from typing import Any

from backend.catalog import ROWS, ModelSpec
from backend.engines.architectures import known_architectures
from backend.settings import Settings
from ui.command_line.output import Output

COLUMNS = ("key", "id", "architecture", "from", "QAIC", "runs", "images", "code", "method", "vLLM")

LEGEND = """
key     what --model takes, as it does the id, or a folder
from    who lists it: vLLM's multi-image example, Qualcomm's QAIC table, Bifocal
QAIC    the modes it is listed for there
runs    split, as a vision encoder and a language decoder, or fused, as one engine
images  the most in one conversation
code    remote: it comes with code of its own and needs --trust-remote-code
method  how prompts are built: by the chat template, or by the row's own (generate)
vLLM    whether the installed version has the architecture
"""


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """All rows, as JSON or as a table."""
    known = known_architectures()
    if output.as_json:
        output.json([row_json(row, known) for row in ROWS])
    else:
        output.write(table([COLUMNS, *(_words(row, known) for row in ROWS)]))
        output.write(LEGEND)


def row_json(row: ModelSpec, known: Set[str]) -> dict[str, Any]:
    """One row as programs read it; `known` are the architectures of the installed vLLM."""
    return {
        "key": row.key,
        "hf_id": row.hf_id,
        "architecture": row.architecture,
        "origins": list(row.origins),
        "qaic_modes": list(row.qaic_modes),
        "split": row.split,
        "max_images": row.max_images,
        "remote_code": row.remote_code,
        "method": row.method,
        "available": row.architecture in known,
        "removed_in": row.last_vllm,
    }


def table(lines: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest word."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        "  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )
    return "\n".join(padded) + "\n"


def _words(row: ModelSpec, known: Set[str]) -> tuple[str, ...]:
    return (
        row.key,
        row.hf_id if row.hf_id != row.key else "the same",
        row.architecture,
        "+".join(row.origins),
        "+".join(row.qaic_modes) or "-",
        "split" if row.split else "fused",
        str(row.max_images),
        "remote" if row.remote_code else "-",
        row.method,
        _availability(row, known),
    )


def _availability(row: ModelSpec, known: Set[str]) -> str:
    if row.architecture in known:
        return "yes"
    return f"dropped, last in {row.last_vllm}" if row.last_vllm else "not in this version"
