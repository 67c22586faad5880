"""What a row does to an answer: its sampling, and what people are told."""

from typing import Any

import pytest

from backend.engines import loader
from backend.plan import make_plan
from backend.settings import read_settings

from .fakes import App, FakeEngine, ask


async def test_a_model_without_halves_says_so_with_every_answer(tokenizer: Any) -> None:
    app = App(tokenizer, topology="fused", model="phi4_mm")
    await app.started()
    result = await app.answer(ask("Hi", method="generate"))
    await app.backend.shutdown()
    assert result.topology == "fused"
    assert result.as_json()["notes"] == [
        "Phi-4 Multimodal Instruct cannot be split: it runs as one fused engine."
    ]


async def test_the_rows_sampling_reaches_the_engine(tokenizer: Any) -> None:
    app = App(tokenizer, topology="fused", model="deepseek_ocr")
    await app.started()
    await app.answer(ask("Hi"))
    await app.backend.shutdown()
    (sampling,) = app.decoder.samplings
    assert sampling.skip_special_tokens is False
    assert sampling.extra_args == {
        "ngram_size": 30,
        "window_size": 90,
        "whitelist_token_ids": [128821, 128822],
    }


def test_the_engine_that_answers_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page shows an engine's detail beside its name, and the terminal logs it."""
    monkeypatch.setattr(loader, "refuse_unknown_architecture", lambda spec: None)
    monkeypatch.setattr(loader, "_require_files", lambda plan: None)
    monkeypatch.setattr(loader, "_config", lambda plan, role, args: args)
    monkeypatch.setattr(loader, "_start", lambda plan, role, config: FakeEngine())
    plan = make_plan(read_settings({"target": "cpu", "model": "hunyuan_vl"}))
    reports: list[tuple[str, str, str]] = []
    loader.load_engines(plan, lambda role, state, detail: reports.append((role, state, detail)))
    assert reports[-1] == (
        "fused",
        "ready",
        "HunyuanOCR cannot be split: it runs as one fused engine.",
    )
