"""What a row does to an answer: its sampling, and what people are told."""

from typing import Any

from .fakes import App, ask


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


async def test_the_engine_that_answers_says_the_same(tokenizer: Any) -> None:
    """The page shows an engine's detail beside its name."""
    app = await App(tokenizer, model="hunyuan_vl").started()
    (fused,) = app.backend.health().engines
    assert fused.role == "fused"
    assert fused.detail == "HunyuanOCR cannot be split: it runs as one fused engine."
    await app.backend.shutdown()
