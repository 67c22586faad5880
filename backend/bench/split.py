"""SplitSide: questions through Bifocal's own path."""

from __future__ import annotations

from contextlib import aclosing

from backend.bench.figures import Answer
from backend.bench.lap import Lap
from backend.bench.question import Question
from backend.errors import EngineError
from backend.service import Bifocal
from backend.types import ChatRequest, DoneEvent, ImageInput, Sampling, TokenEvent, Turn


class SplitSide:
    """Asks a backend whose engines are ready."""

    def __init__(self, backend: Bifocal) -> None:
        self._backend = backend

    async def ask(self, question: Question) -> Answer:
        """From files to text, exactly as the page and the command line ask."""
        images = tuple(ImageInput(str(path), "path") for path in question.pictures)
        sampling = Sampling(max_tokens=question.tokens, ignore_eos=True)
        request = ChatRequest((Turn("user", question.text, images),), sampling)
        lap = Lap()
        async with aclosing(self._backend.stream(request)) as events:
            async for event in events:
                if isinstance(event, TokenEvent):
                    lap.token()
                elif isinstance(event, DoneEvent):
                    result = event.result
                    # Random weights may answer tokens that are no text, which nobody is told of.
                    lap.token(result.timings.decode_s)
                    return lap.answer(result.usage.completion_tokens, result.text)
        raise EngineError("The stream ended without a result.")
