"""The two endpoints for programs: `/ask` and `/bucket`, by gradio_client or plain HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import BifocalError
from backend.types import ChatRequest, ImageInput, Sampling, Turn
from ui import inputs
from ui.components import UploadedFile
from ui.stream import Progress, Run

if TYPE_CHECKING:
    from backend.service import Bifocal


class Api:
    """The endpoints' handlers around one backend."""

    def __init__(self, backend: Bifocal) -> None:
        self.backend = backend

    async def ask(
        self,
        images: list[str] | None,
        image_urls: str,
        prompt: str,
        system_prompt: str,
        temperature: float,
        top_p: float,
        max_tokens: float,
        seed: float,
    ) -> AsyncIterator[dict[str, Any]]:
        """Ask a question about images; streams the result object, its text growing."""
        try:
            sampling = inputs.read_sampling(temperature, top_p, max_tokens, seed)
            given = (*inputs.read_files(images), *inputs.read_urls(image_urls))
            turns = _turns(system_prompt, inputs.read_prompt(prompt), given)
            inputs.check_count(self.backend, len(given))
            run, progress = Run(self.backend.stream(ChatRequest(turns, sampling))), Progress(self.backend)
            async with aclosing(run.batches()) as batches:
                async for events in batches:
                    progress.add(events)
                    yield progress.result().as_json()
        except BifocalError as error:
            raise _for_clients(error) from None

    async def bucket(self, image: str) -> dict[str, Any]:
        """Which compiled size an image gets, the sizes that were weighed, and why."""
        try:
            if not image:
                raise BifocalError("bad_request", "image is missing; send one picture")
            placed = await self.backend.place(ImageInput(image, "upload", name=Path(image).name))
            return placed.as_bucket_json()
        except BifocalError as error:
            raise _for_clients(error) from None


def _turns(system: str, prompt: str, images: tuple[ImageInput, ...]) -> tuple[Turn, ...]:
    first = (Turn("system", system),) if (system or "").strip() else ()
    return (*first, Turn("user", prompt, images))


def _for_clients(error: BifocalError) -> gr.Error:
    # Gradio shows an error's text as HTML, and prints a trace unless told not to.
    return gr.Error(escape(str(error), quote=False), print_exception=False)


def add_endpoints(backend: Bifocal) -> None:
    """Register both inside the current Blocks; their components are never shown."""
    api, defaults = Api(backend), Sampling()
    with gr.Row(visible=False):
        images = UploadedFile(file_count="multiple", label="images")
        fields = [
            gr.Textbox("", label="image_urls, one a line"),
            gr.Textbox("", label="prompt"),
            gr.Textbox("", label="system_prompt"),
            gr.Number(defaults.temperature, label="temperature, 0 to 2"),
            gr.Number(defaults.top_p, label="top_p, above 0, up to 1"),
            gr.Number(defaults.max_tokens, label="max_tokens"),
            gr.Number(defaults.seed, label="seed"),
        ]
        image = UploadedFile(label="image")
        result, placed = gr.JSON(label="result"), gr.JSON(label="bucket")
        gr.Button().click(
            api.ask, [images, *fields], result, api_name="ask", concurrency_limit=None
        )
        gr.Button().click(
            api.bucket, image, placed, api_name="bucket", concurrency_limit=None
        )
