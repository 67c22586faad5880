"""Sampling as a row completes it."""

from typing import Any

from backend.catalog import get_model
from backend.model_sampling import complete_sampling, stop_token_ids
from backend.types import Sampling


class Tokens:
    """Knows two tokens; answers for others as tokenizers with an unknown token do."""

    eos_token_id = 2
    unk_token: str | None = "<unk>"

    def convert_tokens_to_ids(self, name: str) -> int | None:
        known = {"<|im_end|>": 7, "<|endoftext|>": 8, "<unk>": 0}
        return known.get(name, 0 if self.unk_token else None)


def test_named_tokens_are_looked_up_and_unknown_ones_dropped() -> None:
    assert stop_token_ids(get_model("internvl_chat"), Tokens()) == (8, 7)


def test_a_tokenizer_without_an_unknown_token() -> None:
    tokens = Tokens()
    tokens.unk_token = None
    assert stop_token_ids(get_model("internvl_chat"), tokens) == (8, 7)


def test_the_tokenizers_own_end() -> None:
    assert stop_token_ids(get_model("h2ovl_chat"), Tokens()) == (2,)


def test_ids_are_taken_as_they_are() -> None:
    expected = (93532, 93653, 944, 93421, 1019, 93653, 93519)
    assert stop_token_ids(get_model("aria"), Tokens()) == expected


def test_the_row_completes_what_a_person_chose() -> None:
    chosen = Sampling(max_tokens=5, temperature=0.5, seed=3)
    made = complete_sampling(chosen, get_model("deepseek_ocr"), Tokens())
    assert (made.max_tokens, made.temperature, made.seed) == (5, 0.5, 3)
    assert made.skip_special_tokens is False
    extra: Any = made.extra_args
    assert extra["ngram_size"] == 30
    assert extra["whitelist_token_ids"] == [128821, 128822]


def test_a_row_that_says_nothing_changes_nothing() -> None:
    assert complete_sampling(Sampling(), get_model("llava"), Tokens()) == Sampling()
