"""Plain text: ids that are no added token's, and no ids that vLLM looks for."""

import dataclasses
import re
from typing import Any

from tokenizers import AddedToken, Tokenizer, models

from backend.catalog import ModelSpec, get_model
from backend.catalog.prompt_style import ExplicitPrompt, Placeholders, TextMessage
from backend.plain_text import PlainText, contains
from backend.prompts import ImageSlot, generate_prompt, image_token_ids
from backend.types import Turn

from .tiny_tokenizers import CHATML_OF_TEXT, byte_level


def row(image_token: str, **changes: Any) -> ModelSpec:
    return dataclasses.replace(get_model("aria"), image_token=image_token, **changes)


def test_typed_words_do_not_keep_the_ids_vllm_looks_for() -> None:
    """With a tokenizer that has words for it, or the first typed one would become the image."""
    tokenizer = byte_level([], [], CHATML_OF_TEXT)
    merged = _with_words(tokenizer, ["<i", "im", "ma", "ag", "ge", "e>"])
    spec = row("<image>", prompt=TextMessage(Placeholders("<image>\n")))
    target = image_token_ids(spec, merged)
    typed = "a <image> b <image>"
    (text,) = generate_prompt(Turn("user", typed), spec, merged).parts
    assert not isinstance(text, ImageSlot)
    assert not contains(list(text), target)
    assert typed in merged.decode(list(text))


def _with_words(tokenizer: Any, pairs: list[str]) -> Any:
    """The same with merges of these pairs of letters."""
    old = tokenizer.backend_tokenizer
    vocabulary = {**old.get_vocab(with_added_tokens=False)}
    for pair in pairs:
        vocabulary[pair] = len(vocabulary)
    merged = Tokenizer(models.BPE(vocabulary, [(pair[0], pair[1]) for pair in pairs]))
    merged.pre_tokenizer, merged.decoder = old.pre_tokenizer, old.decoder
    made = type(tokenizer)(tokenizer_object=merged)
    made.chat_template = tokenizer.chat_template
    return made


def test_tokens_that_take_in_the_white_space_beside_them() -> None:
    """Phi's end a line by themselves; a line break left behind would be one too many."""
    tokenizer = byte_level(["<s>"])
    tokenizer.add_tokens([AddedToken("<|user|>", rstrip=True, normalized=False, special=True)])
    tokenizer.add_tokens([AddedToken("<|end|>", lstrip=True, normalized=False, special=True)])
    spec = row("#", prompt=ExplicitPrompt("<|user|>\n{question} <|end|>", Placeholders("#")))
    (found,) = generate_prompt(Turn("user", "Hi"), spec, tokenizer).parts
    whole = tokenizer.encode("<|user|>\nHi <|end|>", add_special_tokens=False)
    assert list(found) == whole  # type: ignore[arg-type]


class Slow:
    """A tokenizer without a fast backend: letters, and two added tokens."""

    chat_template = None

    def get_added_vocab(self) -> dict[str, int]:
        return {"<image>": 1, "[IMG]": 2}

    def encode(self, text: str, **options: Any) -> list[int]:
        pieces = re.split(r"(<image>|\[IMG\])", text)
        added = self.get_added_vocab()
        return [i for p in pieces for i in ([added[p]] if p in added else map(ord, p))]


def test_a_tokenizer_without_a_fast_backend() -> None:
    plain = PlainText(Slow())
    for text in ("a <image> b", "[IMG][IMG]", "<image>"):
        assert plain.encode(text) == [ord(letter) for letter in text]
