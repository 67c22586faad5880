"""Rounds: what every side is asked, side after side, time and again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from backend.bench.figures import Answer, Burst
from backend.bench.load import TEXTS, burst
from backend.bench.options import Options
from backend.bench.pictures import Pictures
from backend.bench.question import Question, Side
from backend.errors import EngineError

SINGLE_TOKENS: Final = 32
"""Tokens of an answer where there is one asker."""
SINGLES: Final = 3
"""Single questions for each repeat of a load: they are short."""
FEW_TOKENS: Final = 8
"""Tokens where only the first one is looked at."""
MANY: Final = 4
"""Pictures of a question about several, and askers of such questions."""


@dataclass(slots=True)
class Measured:
    """All that one side was timed at."""

    new: list[Answer] = field(default_factory=list)
    """One asker, a new picture each."""
    same: list[Answer] = field(default_factory=list)
    """One asker, another question about the picture before."""
    many: list[Burst] = field(default_factory=list)
    """Several askers, several new pictures a question."""
    load: list[Burst] = field(default_factory=list)
    """Many askers, every second question about a picture seen before."""


class Rounds:
    """Asks all sides. Every side has pictures of its own, which no other side has seen."""

    def __init__(
        self,
        sides: dict[str, Side],
        pictures: Pictures,
        options: Options,
        tell: Callable[[str], None],
    ) -> None:
        self._sides, self._pictures, self._options = sides, pictures, options
        self._tell = tell
        self._seen: dict[str, list[Path]] = {}
        self.measured = {name: Measured() for name in sides}
        self.answer = ""
        """What every side answered to the same question."""

    async def run(self) -> None:
        """All measurements. Raises EngineError where two sides answer differently."""
        await self.compare_answers()
        await self.warm_up()
        for repeat in range(self._options.repeats):
            self._tell(f"measuring, {repeat + 1} of {self._options.repeats}")
            for _ in range(SINGLES):
                await self.single()
            await self.many()
            await self.load()

    async def compare_answers(self) -> None:
        """The same question to every side: a bench on wrong answers is worth nothing."""
        (picture,) = self._pictures.new(1)
        question = Question(TEXTS[0], (picture,), SINGLE_TOKENS)
        answers = {name: await side.ask(question) for name, side in self._sides.items()}
        texts = {answer.text for answer in answers.values()}
        if len(texts) > 1 or any(a.tokens != SINGLE_TOKENS for a in answers.values()):
            told = "; ".join(f"{name}: {a.tokens} tokens {a.text!r}" for name, a in answers.items())
            raise EngineError(f"The sides do not answer the same, so nothing was measured. {told}")
        self.answer = texts.pop()

    async def warm_up(self) -> None:
        """Many askers once, untimed: first times take longer, and the load needs seen pictures."""
        self._tell("warming up")
        streams, rounds = self._options.streams, self._options.rounds
        for name, side in self._sides.items():
            seen = self._seen[name] = self._pictures.new(streams * rounds)
            asked = [Question(TEXTS[0], (picture,), FEW_TOKENS) for picture in seen]
            await burst(side, [asked[asker::streams] for asker in range(streams)])

    async def single(self) -> None:
        """One asker: a new picture, then another question about it."""
        for name, side in self._in_turn():
            (picture,) = self._pictures.new(1)
            first, second = (Question(text, (picture,), SINGLE_TOKENS) for text in TEXTS[:2])
            measured = self.measured[name]
            measured.new.append(_whole(await side.ask(first), SINGLE_TOKENS))
            measured.same.append(_whole(await side.ask(second), SINGLE_TOKENS))

    async def many(self) -> None:
        """Several new pictures a question; only the first token counts."""
        for name, side in self._in_turn():
            self.measured[name].many.append(await burst(side, self._many_questions()))

    async def load(self) -> None:
        """Many askers, half of the questions about pictures that the side has seen."""
        for name, side in self._in_turn():
            measured = await burst(side, self._load_questions(name))
            for answer in measured.answers:
                _whole(answer, self._options.tokens)
            self.measured[name].load.append(measured)

    def _in_turn(self) -> Iterator[tuple[str, Side]]:
        """All sides, each time another one first: what drifts must not always meet the same one."""
        names = list(self._sides)
        first = self._sides.pop(names[0])
        self._sides[names[0]] = first
        return iter(list(self._sides.items()))

    def _load_questions(self, name: str) -> list[list[Question]]:
        """For each asker new and seen pictures by turns; half of them begin with either.

        What is new now is what has been seen the next time.
        """
        options, seen = self._options, self._seen[name]
        fresh = self._seen[name] = self._pictures.new(len(seen))
        askers: list[list[Question]] = []
        for asker in range(options.streams):
            questions = []
            for place in range(asker * options.rounds, (asker + 1) * options.rounds):
                text = TEXTS[place % len(TEXTS)]
                pair = [
                    Question(text, (fresh[place],), options.tokens),
                    Question(f"Look closely. {text}", (seen[place],), options.tokens),
                ]
                questions += pair if asker % 2 else pair[::-1]
            askers.append(questions)
        return askers

    def _many_questions(self) -> list[list[Question]]:
        askers = [tuple(self._pictures.new(MANY)) for _ in range(MANY)]
        return [[Question(TEXTS[0], pictures, FEW_TOKENS)] for pictures in askers]


def _whole(answer: Answer, tokens: int) -> Answer:
    """The answer. Raises EngineError where it has not that many tokens: times of answers of other
    lengths mean nothing."""
    if answer.tokens != tokens:
        raise EngineError(f"An answer had {answer.tokens} tokens instead of {tokens}.")
    return answer
