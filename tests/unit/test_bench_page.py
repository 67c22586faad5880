"""The bench's side `page`: served here, asked by clients in a process of their own."""

from __future__ import annotations

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from backend.bench.load import burst
from backend.bench.pictures import Pictures
from backend.bench.question import Question
from backend.errors import EngineError
from ui.command_line.bench_page import PageSide, open_page

from .fakes import App


@pytest.mark.timeout(120)
async def test_questions_go_through_the_web_api(tokenizer: Any, tmp_path: Path) -> None:
    app = await App(tokenizer).started()
    pictures = Pictures(tmp_path, 364, 532, seed=0).new(4)
    async with AsyncExitStack() as stack:
        side = await open_page(app.backend, 2, stack)
        asked = [Question("What is it?", (picture,), 3) for picture in pictures]
        measured = await burst(side, [asked[:2], asked[2:]])
        with pytest.raises(EngineError, match=r"web API answered.*bad_request"):
            await side.ask(Question("", (pictures[0],), 3))
    assert [(answer.tokens, answer.text) for answer in measured.answers] == [
        (3, "A red circle.")
    ] * 4
    assert all(0 < answer.ttft_s <= answer.total_s for answer in measured.answers)
    assert len({image.sha256 for image in app.encoder.encoded}) == 4
    assert {(s.max_tokens, s.ignore_eos) for s in app.decoder.samplings} == {(3, True)}
    await app.backend.shutdown()


@pytest.mark.timeout(60)
async def test_clients_that_have_ended_are_not_waited_for() -> None:
    """A bench whose clients died between two questions must end, not hang."""
    clients = await asyncio.create_subprocess_exec(
        sys.executable, "-c", "import sys; sys.stdin.readline()",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    side = PageSide(clients)
    for _ in range(2):
        with pytest.raises(EngineError, match="has ended"):
            await asyncio.wait_for(side.ask(Question("What is it?", (), 3)), 30)
    await clients.wait()
