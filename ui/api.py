"""The two endpoints for programs: `/ask` and `/bucket`, by gradio_client or plain HTTP."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import BifocalError, InputError
from backend.types import ChatRequest, ImageInput, Result, Sampling, StageEvent, Turn
from ui import inputs
from ui.stream import Progress, Run
from ui.uploads import uploads
from ui.visitor import visitor

if TYPE_CHECKING:
    from backend.service import Bifocal


class Api:
    """The endpoints' handlers around one backend."""

    def __init__(self, backend: Bifocal) -> None:
        self.backend = backend

    async def ask(
        self,
        images: list[str] | None = None,
        image_urls: str = "",
        prompt: str = "",
        system_prompt: str = "",
        temperature: float | None = None,
        top_p: float | None = None,
        max_tokens: float | None = None,
        seed: float | None = None,
    ) -> AsyncIterator[dict[str, Any]]:
        """Ask a question about images; streams the result object, its text growing."""
        try:
            options = inputs.read_options(system_prompt, temperature, top_p, max_tokens, seed)
            given = (*inputs.read_files(images), *inputs.read_urls(image_urls))
            turn = Turn("user", (prompt or "").strip(), given)
            request = ChatRequest(_with_system(options.system_prompt, turn), options.sampling)
            async with aclosing(self._stream(request)) as results:
                async for result in results:
                    yield result.as_json()
        except BifocalError as error:
            raise _for_clients(error) from None

    async def _stream(self, request: ChatRequest) -> AsyncGenerator[Result, None]:
        progress = Progress(self.backend)
        run = Run(self.backend.stream(request, visitor()), lambda: self.backend.answering)
        async with aclosing(run.batches()) as batches:
            async for events in batches:
                progress.add(events)
                # A stage is not part of the result; but now and then, Gradio must find the
                # generator between two of its steps to be able to end it.
                if not events or not all(isinstance(event, StageEvent) for event in events):
                    yield progress.result()

    async def bucket(self, image: str) -> dict[str, Any]:
        """Which compiled size an image gets, the sizes that were weighed, and why."""
        try:
            if not image:
                raise InputError("bad_request", "The image is missing: send one picture.")
            placed = await self.backend.place(ImageInput(image, "upload", name=Path(image).name))
            return placed.as_bucket_json(self.backend.plan.ctx_len)
        except BifocalError as error:
            raise _for_clients(error) from None


def _with_system(system_prompt: str, turn: Turn) -> tuple[Turn, ...]:
    return (Turn("system", system_prompt), turn) if system_prompt.strip() else (turn,)


def _for_clients(error: BifocalError) -> gr.Error:
    # Gradio shows an error's text as HTML, and prints a trace unless told not to.
    return gr.Error(escape(str(error), quote=False), print_exception=False)


def add_endpoints(backend: Bifocal) -> None:
    """Register both inside the current Blocks; their components are never shown."""
    api, defaults = Api(backend), Sampling()
    with gr.Row(visible=False):
        images = uploads(file_count="multiple", label="images")
        fields = [
            gr.Textbox("", label="image_urls, one a line"),
            gr.Textbox("", label="prompt"),
            gr.Textbox("", label="system_prompt"),
            gr.Number(defaults.temperature, label="temperature, 0 to 2"),
            gr.Number(defaults.top_p, label="top_p, above 0, up to 1"),
            gr.Number(defaults.max_tokens, label="max_tokens"),
            gr.Number(defaults.seed, label="seed"),
        ]
        image = uploads(label="image")
        result, placed = gr.JSON(label="result"), gr.JSON(label="bucket")
        gr.Button().click(
            api.ask, [images, *fields], result, api_name="ask", concurrency_limit=None
        )
        gr.Button().click(api.bucket, image, placed, api_name="bucket", concurrency_limit=None)
