"""`ask`: one question through the backend here, or through a running app."""

from __future__ import annotations

import argparse
import asyncio
from contextlib import aclosing

from backend.catalog import get_model
from backend.errors import InputError, SettingError
from backend.service import Bifocal
from backend.settings import Settings, repository
from backend.types import (
    ChatRequest,
    DoneEvent,
    ImageInput,
    ImagesEvent,
    Sampling,
    TokenEvent,
    Turn,
)
from ui.command_line.output import Output
from ui.command_line.remote_app import ask_server
from ui.examples import read_examples


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """Stream the answer to stdout, or print the result object."""
    images = chosen_images(arguments)
    if arguments.server:
        ask_server(arguments, settings, images, output)
    else:
        asyncio.run(_ask(_request(arguments, settings, images), settings, output))


async def _ask(request: ChatRequest, settings: Settings, output: Output) -> None:
    backend = Bifocal(settings)
    backend.check(request)
    try:
        async with aclosing(backend.stream(request)) as events:
            async for event in events:
                if isinstance(event, ImagesEvent):
                    # Only now: a bad image is told at once, not after the engines are there.
                    backend.start()
                elif isinstance(event, TokenEvent) and not output.as_json:
                    output.write(event.text)
                elif isinstance(event, DoneEvent):
                    output.json(event.result.as_json()) if output.as_json else output.write("\n")
    finally:
        await backend.shutdown()


def _request(
    arguments: argparse.Namespace, settings: Settings, images: tuple[ImageInput, ...]
) -> ChatRequest:
    system = [Turn("system", arguments.system_prompt)] if arguments.system_prompt else []
    max_tokens = arguments.max_tokens
    if max_tokens is None:
        max_tokens = get_model(settings.model).max_tokens
    sampling = Sampling(max_tokens, arguments.temperature, arguments.top_p, settings.seed)
    turns = (*system, Turn("user", arguments.prompt, images))
    return ChatRequest(turns, sampling, arguments.method)


def chosen_images(arguments: argparse.Namespace) -> tuple[ImageInput, ...]:
    """The images named, or the first bundled examples."""
    if arguments.image:
        if arguments.num_images is not None:
            raise SettingError("--num-images counts bundled examples; leave it out with --image.")
        return tuple(map(image_input, arguments.image))
    count = arguments.num_images or 0
    if count < 0:
        raise SettingError("--num-images must be 0 or more.")
    examples = read_examples(repository() / "assets" / "examples")
    if count > len(examples):
        raise InputError(
            "too_many_images", f"There are {len(examples)} bundled examples, not {count}."
        )
    return tuple(ImageInput(str(example.path), "path") for example in examples[:count])


def image_input(text: str) -> ImageInput:
    """A path or a URL of the command line; `data:` is one."""
    is_url = "://" in text or text.lstrip()[:5].lower() == "data:"
    return ImageInput(text, "url" if is_url else "path")
