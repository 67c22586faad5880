"""Asking a backend in tests."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from PIL import Image

from backend.service import Bifocal
from backend.types import ChatRequest, DoneEvent, ImageInput, Result, Sampling, TokenEvent, Turn


def saved(folder: Path, name: str, picture: Image.Image) -> ImageInput:
    """The picture as an upload."""
    path = folder / name
    picture.save(path)
    return ImageInput(str(path), "upload", name)


def question(text: str, images: Sequence[ImageInput] = (), max_tokens: int = 48) -> ChatRequest:
    """One turn, answered greedily."""
    return ChatRequest((Turn("user", text, tuple(images)),), Sampling(max_tokens=max_tokens))


def seeded(image: ImageInput) -> ChatRequest:
    """A question whose answer is drawn with a seed."""
    sampling = Sampling(max_tokens=32, temperature=0.8, top_p=0.9, seed=7)
    return ChatRequest((Turn("user", "Describe the image.", (image,)),), sampling)


async def ask(backend: Bifocal, request: ChatRequest) -> Result:
    """The finished answer, whose text must be what was streamed."""
    streamed = ""
    async with aclosing(backend.stream(request)) as events:
        async for event in events:
            if isinstance(event, TokenEvent):
                streamed += event.text
            if isinstance(event, DoneEvent):
                assert event.result.text == streamed
                return event.result
    raise AssertionError("the stream ended without a result")
