"""`ask --server`: the same question put to a running app through its API."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final, NoReturn

from backend.errors import BifocalError, EngineError, InputError
from backend.settings import Settings
from backend.types import ImageInput, Sampling
from ui.command_line.output import Output

INTERRUPTED: Final = 130
"""The exit status of the contract."""


def ask_server(
    arguments: argparse.Namespace,
    settings: Settings,
    images: Sequence[ImageInput],
    output: Output,
) -> None:
    """Stream the app's answer. Raises what the app answers with its own code."""
    from gradio_client import Client, handle_file
    from gradio_client.exceptions import AppError

    auth = tuple(settings.auth[0].split(":", 1)) if settings.auth else None
    try:
        client = Client(arguments.server, auth=auth, verbose=False)
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())[:200]
        raise EngineError(
            f"No Bifocal app answers at {arguments.server}: {reason}", "server_unreachable"
        ) from None
    files = [image.location for image in images if image.origin != "url"]
    urls = [image.location for image in images if image.origin == "url"]
    for path in files:
        _refuse_missing(path)
    job = client.submit(
        images=[handle_file(path) for path in files],
        image_urls="\n".join(urls),
        prompt=arguments.prompt,
        system_prompt=arguments.system_prompt,
        temperature=arguments.temperature,
        top_p=arguments.top_p,
        max_tokens=Sampling().max_tokens if arguments.max_tokens is None else arguments.max_tokens,
        seed=settings.seed,
        api_name="/ask",
    )
    shown = ""
    result: dict[str, Any] = {}
    try:
        for result in job:
            if not output.as_json:
                output.write(result["text"][len(shown) :])
                shown = result["text"]
        job.result()
    except AppError as error:
        raise _as_ours(str(error)) from None
    except KeyboardInterrupt:
        _leave(job)
    output.json(result) if output.as_json else output.write("\n")


def _leave(job: Any) -> NoReturn:
    """Tell the app, and end at once: the client's threads would wait for the whole answer."""
    with suppress(Exception):
        job.cancel()
    sys.stderr.flush()
    os._exit(INTERRUPTED)


def _refuse_missing(path: str) -> None:
    from pathlib import Path

    if not Path(path).is_file():
        raise InputError("image_unreadable", f"There is no file {Path(path).name}.")


def _as_ours(text: str) -> BifocalError:
    code, colon, message = text.partition(": ")
    if colon and code.replace("_", "").isalpha() and code.islower():
        return InputError(code, message)
    return EngineError(f"The app answered: {text}")
