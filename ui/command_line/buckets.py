"""`buckets`: which bucket each image gets and why, without an engine."""

from __future__ import annotations

import argparse
import asyncio

from backend.service import Bifocal
from backend.settings import Settings
from backend.types import PlacedImage
from ui.command_line.ask import image_input
from ui.command_line.output import Output


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """One entry an image, in order."""
    placed = asyncio.run(_place(arguments, settings))
    if output.as_json:
        output.json([image.as_bucket_json() for image in placed])
    else:
        output.write("\n".join(map(_text, placed)))


async def _place(arguments: argparse.Namespace, settings: Settings) -> list[PlacedImage]:
    backend = Bifocal(settings)
    return [await backend.place(image_input(image)) for image in arguments.images]


def _text(image: PlacedImage) -> str:
    placement = image.placement
    lines = [
        f"{image.source}: {image.width} x {image.height} pixels (width x height)",
        *(f"  note: {note}" for note in image.notes),
        f"  {placement.why}",
        f"  aspect x {placement.aspect_change:.2f} ({placement.fit})",
    ]
    for candidate in placement.candidates:
        bucket = candidate.bucket
        height, width = bucket.compiled or (bucket.height, bucket.width)
        lines.append(
            f"  {'*' if candidate.chosen else ' '} {height}x{width} compiled, "
            f"{bucket.height}x{bucket.width} snapped, {bucket.tokens} tokens, "
            f"{candidate.effective_pixels:,} effective pixels, {candidate.wasted_pixels:,} wasted"
        )
    return "\n".join(lines) + "\n"
