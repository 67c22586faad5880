"""The endpoints for programs: what a stream of results is made of."""

from typing import Any

import pytest

from ui import stream
from ui.api import Api

from .fakes import App


async def test_ask_streams_only_what_changes_the_result(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stage is no part of it: every result but the last has more than the one before."""
    monkeypatch.setattr(stream, "TICK", 1000.0)
    monkeypatch.setattr(stream, "INTERVAL", 0.0)
    monkeypatch.setattr(stream, "UPDATES_PER_CORE", 10**9)
    app = await App(tokenizer).started()
    results = [result async for result in Api(app.backend).ask(prompt="What is it?")]
    texts = [result["text"] for result in results]
    assert len(texts) > 2
    assert texts[-1] == "A red circle."
    assert texts[0] == ""  # The pictures are told as soon as they are placed.
    assert len(texts) == len({*texts[:-1]}) + 1
