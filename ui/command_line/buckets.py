"""`buckets`: which bucket each image gets and why, without an engine."""

from __future__ import annotations

import argparse
import asyncio

from backend.placement import Candidate, PlacedImage
from backend.service import Bifocal
from backend.settings import Settings
from ui.bucket_table import share
from ui.command_line.ask import image_input
from ui.command_line.output import Output


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """One entry an image, in order; they are placed as the images of one request."""
    backend = Bifocal(settings)
    backend.check_image_count(len(arguments.images))
    placed = asyncio.run(_place(backend, arguments.images))
    ctx_len = backend.plan.ctx_len
    if output.as_json:
        output.json([image.as_bucket_json(ctx_len) for image in placed])
    else:
        output.write("\n".join(_text(image, ctx_len) for image in placed))


async def _place(backend: Bifocal, images: list[str]) -> list[PlacedImage]:
    return backend.together([await backend.place(image_input(image)) for image in images])


def _text(image: PlacedImage, ctx_len: int) -> str:
    placement = image.placement
    used = placement.bucket.tokens
    lines = [
        f"{image.source}: {image.height} x {image.width} pixels (height x width)",
        *(f"  note: {note}" for note in image.notes),
        f"  {placement.why}",
        f"  aspect x {placement.aspect_change:.2f} ({placement.fit})",
        *([f"  {used:,} of {ctx_len:,} tokens of the context"] if used else []),
        *(f"  warning: {loss}" for loss in placement.losses),
        *(_candidate(candidate, ctx_len) for candidate in placement.candidates),
    ]
    return "\n".join(lines) + "\n"


def _candidate(candidate: Candidate, ctx_len: int) -> str:
    bucket = candidate.bucket
    height, width = bucket.compiled or (bucket.height, bucket.width)
    return (
        f"  {'*' if candidate.chosen else ' '} {height}x{width} compiled, "
        f"{bucket.height}x{bucket.width} snapped, {bucket.tokens:,} tokens "
        f"({share(bucket.tokens, ctx_len)} of the context), "
        f"{candidate.effective_pixels:,} effective pixels, {candidate.wasted_pixels:,} wasted"
    )
