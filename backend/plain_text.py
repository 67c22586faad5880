"""PlainText: text to token ids of which none is an added token's, whatever the text spells.

A tokenizer finds its added tokens in any text it is given, special or not: `<|im_end|>`, `[IMG]`,
`<start_of_image>`. What a person typed must not become one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

LEAD = "\ue002"
"""A private-use character that stands for the added token before a text."""


class PlainText:
    """Encodes as one tokenizer would if it had no added tokens."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._backend = getattr(tokenizer, "backend_tokenizer", None)
        self._bare: dict[str, Any] = {}
        # White space is the same as text: Gemma has added tokens for runs of line breaks.
        self._added = {
            name: number
            for name, number in tokenizer.get_added_vocab().items()
            if len(name) > 1 and not name.isspace()
        }

    def encode(self, text: str, is_first: bool = False) -> list[int]:
        """Token ids of a text that begins the prompt, or that comes after an added token.

        The two differ with tokenizers that put a space before the first word of a prompt.
        """
        if not text:
            return []
        ids = self._encode(text, is_first)
        if not self._added.keys() & self._spelt(text):
            return ids
        # A vocabulary may hold an added token a second time, as a word of its own.
        reserved = set(self._added.values())
        return ids if reserved.isdisjoint(ids) else self._cut(text, is_first)

    def encode_without(self, text: str, target: re.Pattern[str], is_first: bool) -> list[int]:
        """The same, cut so that no text that `target` finds keeps the ids it has by itself."""
        ids: list[int] = []
        start = 0
        for found in target.finditer(text):
            alone = self.encode(found[0])
            for cut in range(found.start() + 1, found.end()):
                left = self.encode(text[start:cut], is_first and not start)
                if not contains(left + self.encode(text[cut : found.end()]), alone):
                    break
            ids += left
            start = cut
        return ids + self.encode(text[start:], is_first and not start)

    def _spelt(self, text: str) -> set[str]:
        return {name for name in self._added if name in text}

    def _encode(self, text: str, is_first: bool) -> list[int]:
        if self._backend is None:
            return list(
                self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
            )
        lead = "" if is_first else LEAD
        while lead and lead in text:
            lead += LEAD
        ids = self._bare_tokenizer(lead).encode(lead + text, add_special_tokens=False).ids
        return list(ids[bool(lead) :])

    def _bare_tokenizer(self, lead: str) -> Any:
        """The same model and rules, with `lead` as the only added token."""
        if lead not in self._bare:
            backend: Any = self._backend
            make: Callable[[Any], Any] = type(backend)
            bare = make(backend.model)
            if backend.normalizer is not None:
                bare.normalizer = backend.normalizer
            if backend.pre_tokenizer is not None:
                bare.pre_tokenizer = backend.pre_tokenizer
            if lead:
                bare.add_special_tokens([lead])
            self._bare[lead] = bare
        return self._bare[lead]

    def _cut(self, text: str, is_first: bool) -> list[int]:
        """Cut through whatever spells an added token."""
        names = sorted(self._spelt(text), key=len, reverse=True)
        cuts = [m.start() + 1 for m in re.finditer("|".join(map(re.escape, names)), text)]
        ids: list[int] = []
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            ids += self._encode(text[start:end], is_first and not start)
        return ids


def contains(ids: list[int], part: list[int]) -> bool:
    """Whether `part` is a run of `ids`."""
    return any(ids[at : at + len(part)] == part for at in range(len(ids) - len(part) + 1))
