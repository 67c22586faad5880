"""Tokenizers of a few hundred entries, each built as one family's is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'image' %}<image>"
    "{% else %}{{ part.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHATML_OF_TEXT = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GEMMA_TURNS = (
    "{{ bos_token }}{% for message in messages %}<start_of_turn>{{ message.role }}\n"
    "{% for part in message.content %}{% if part.type == 'image' %}<start_of_image>"
    "{% else %}{{ part.text | trim }}{% endif %}{% endfor %}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def byte_level(
    special: Sequence[str], plain: Sequence[str] = (), template: str | None = None
) -> Any:
    """Byte-level BPE as Qwen's and Idefics3's; `plain` tokens are not special."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _finished(tokenizer, special, plain, template)


def mistral(special: Sequence[str], plain: Sequence[str] = ()) -> Any:
    """Byte-level BPE that begins every text with `<s>`."""
    made = byte_level(["<s>", *special], plain)
    made.bos_token = "<s>"
    start = made.convert_tokens_to_ids("<s>")
    made.backend_tokenizer.post_processor = TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", start)]
    )
    return made


def gemma() -> Any:
    """Characters without pre-tokenizing, spaces as marks; its vocabulary can spell a token out."""
    words = ["<s", "tart_of_image>"]
    letters = sorted(set(map(chr, range(32, 127))) - {" "} | {"▁", "\n"} | set("<start_of_image>"))
    merges: list[tuple[str, str]] = []
    vocabulary: dict[str, int] = {letter: i for i, letter in enumerate(letters)}

    def grow(word: str) -> None:
        for end in range(2, len(word) + 1):
            if word[:end] not in vocabulary:
                vocabulary[word[:end]] = len(vocabulary)
                merges.append((word[: end - 1], word[end - 1]))

    for word in words:
        grow(word)
    vocabulary["".join(words)] = len(vocabulary)
    merges.append((words[0], words[1]))
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.Fuse()])
    special = ["<bos>", "<start_of_turn>", "<end_of_turn>"]
    made = _finished(tokenizer, special, ["<start_of_image>"], GEMMA_TURNS)
    made.bos_token = "<bos>"
    return made


def llama(special: Sequence[str], plain: Sequence[str]) -> Any:
    """Characters with a mark for spaces, also before the first word of a prompt, as LLaVA-1.5's."""
    letters = [*map(chr, range(33, 127)), "▁", "\n"]
    tokenizer = Tokenizer(models.BPE({letter: i for i, letter in enumerate(letters)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    return _finished(tokenizer, special, plain, None)


def _finished(
    tokenizer: Tokenizer, special: Sequence[str], plain: Sequence[str], template: str | None
) -> Any:
    tokenizer.add_special_tokens([AddedToken(name, normalized=False) for name in special])
    tokenizer.add_tokens([AddedToken(name, normalized=False, special=False) for name in plain])
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    made.chat_template = template
    return made
