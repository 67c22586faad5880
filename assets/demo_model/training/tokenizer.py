"""The demo model's tokenizer: bytes, the world's common words, and Qwen's special tokens.

A byte-level BPE without merges. A word of the vocabulary is one token, any other text is spelt
byte by byte, which also makes the model spell what it reads in a picture.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path
from typing import Final

from tokenizers import AddedToken, Regex, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

from . import answers
from .conversations import about_several, each, off_topic, one, who
from .phrases import SYSTEM_PROMPTS
from .scene import random_aspect, random_scene

SIZE: Final = 512
SPECIALS: Final[tuple[str, ...]] = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
ENDOFTEXT, IM_START, IM_END, VISION_START, VISION_END, IMAGE_PAD, VIDEO_PAD = range(
    SIZE - len(SPECIALS), SIZE
)

PATTERN: Final = (
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
ROUGH_PATTERN: Final = re.compile(r" ?[A-Za-z]+")


def byte_letters() -> list[str]:
    """The 256 printable characters that stand for bytes in a byte-level BPE, in byte order."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in kept else chr(next(others)) for byte in range(256)]


def common_words(count: int, seed: int = 0) -> list[str]:
    """The words that save most tokens in the world's questions and answers."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    for _ in range(6000):
        scenes = [random_scene(rng, random_aspect(rng)) for _ in range(2)]
        turns = [one(rng, scenes[0]) for _ in range(6)]
        turns += [each(rng, scenes), about_several(rng, scenes), who(rng), off_topic(rng)]
        for turn in turns:
            for text in (turn.question, turn.answer):
                counts.update(ROUGH_PATTERN.findall(re.sub('"[^"]*"', '""', text)))
    for system in SYSTEM_PROMPTS:
        counts.update(dict.fromkeys(ROUGH_PATTERN.findall(system), 300))
    for text in ("system", "user", "assistant"):
        counts[text] += 10**6
    for text in (answers.WHO, answers.BEYOND, answers.OFF_TOPIC, answers.NO_PICTURE):
        counts.update(dict.fromkeys(ROUGH_PATTERN.findall(text), 10**5))
    saved = {word: (len(word) - 1) * n for word, n in counts.items() if len(word) > 1}
    return sorted(saved, key=lambda word: (-saved[word], word))[:count]


def build() -> Tokenizer:
    """The tokenizer, 512 tokens."""
    letters = byte_letters()
    words = common_words(SIZE - 256 - len(SPECIALS))
    tokens = [*letters, *(word.replace(" ", letters[32]) for word in words)]
    model = BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=[], ignore_merges=True)
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PATTERN), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(text, special=True) for text in SPECIALS])
    assert tokenizer.get_vocab_size() == SIZE
    return tokenizer


def load(folder: Path) -> Tokenizer:
    """The tokenizer of a model folder."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
