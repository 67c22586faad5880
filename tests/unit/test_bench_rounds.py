"""What every side of a bench is asked; sides that answer at once, and pictures that are real."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from PIL import Image

from backend.bench.engine_side import EngineSide
from backend.bench.figures import Answer
from backend.bench.load import burst
from backend.bench.options import Options, check_options, check_plan, picture_size
from backend.bench.pictures import Pictures
from backend.bench.question import Question
from backend.bench.rounds import FEW_TOKENS, MANY, SINGLES, Rounds
from backend.errors import EngineError, SettingError
from backend.plan import Plan, make_plan
from backend.settings import read_settings

OPTIONS = Options(("split", "fused"), 2, streams=4, rounds=2, tokens=16, height=56, width=84)


class Asked:
    """A side that remembers its questions; some askers wait for each other."""

    def __init__(self, text: str = "yes", tokens: int | None = None) -> None:
        self.questions: list[Question] = []
        self.most = self._now = 0
        self._text, self._tokens = text, tokens

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        self._now += 1
        self.most = max(self.most, self._now)
        await asyncio.sleep(0)
        self._now -= 1
        return Answer(0.1, 0.2, self._tokens or question.tokens, self._text)


@pytest.fixture
def pictures(tmp_path: Path) -> Pictures:
    return Pictures(tmp_path, OPTIONS.height, OPTIONS.width, seed=0)


def test_pictures_differ_and_have_the_size(pictures: Pictures) -> None:
    opened = [Image.open(path) for path in pictures.new(40)]
    assert {picture.size for picture in opened} == {(84, 56)}
    assert len({picture.tobytes() for picture in opened}) == 40


def test_another_seed_draws_other_pictures(tmp_path: Path) -> None:
    first, second = (Pictures(tmp_path, 56, 84, seed).new(1)[0].read_bytes() for seed in (1, 2))
    assert first != second


async def test_each_side_gets_the_same_work_on_pictures_of_its_own(pictures: Pictures) -> None:
    sides = {"split": Asked(), "fused": Asked()}
    rounds = Rounds(dict(sides), pictures, OPTIONS, lambda doing: None)
    await rounds.run()
    shapes = [
        [(question.text, len(question.pictures), question.tokens) for question in side.questions]
        for side in sides.values()
    ]
    assert sorted(shapes[0]) == sorted(shapes[1])
    split, fused = (
        {path for question in side.questions[1:] for path in question.pictures}
        for side in sides.values()
    )
    assert not split & fused
    for side in sides.values():
        assert side.most == OPTIONS.streams
    measured = rounds.measured["split"]
    assert len(measured.new) == len(measured.same) == SINGLES * OPTIONS.repeats
    assert [len(load.answers) for load in measured.load] == [16, 16]
    assert [len(many.answers) for many in measured.many] == [MANY, MANY]


async def test_half_of_the_load_is_about_pictures_seen_before(pictures: Pictures) -> None:
    side = Asked()
    rounds = Rounds({"split": side}, pictures, OPTIONS, lambda doing: None)
    await rounds.warm_up()
    await rounds.load()
    streams, times = OPTIONS.streams, OPTIONS.rounds
    before, load = side.questions[: streams * times], side.questions[streams * times :]
    seen = {question.pictures for question in before}
    assert len(load) == 2 * streams * times
    new = [question for question in load if question.pictures not in seen]
    assert len(new) == len({question.pictures for question in new}) == streams * times
    again = [question for question in load if question.pictures in seen]
    assert not {q.text for q in again} & {q.text for q in before}
    assert {question.tokens for question in load} == {OPTIONS.tokens}
    first = load[:streams]
    assert sum(question.pictures in seen for question in first) == streams // 2


async def test_several_new_pictures_a_question(pictures: Pictures) -> None:
    side = Asked()
    await Rounds({"split": side}, pictures, OPTIONS, lambda doing: None).many()
    assert [len(set(question.pictures)) for question in side.questions] == [MANY] * MANY
    assert len({path for question in side.questions for path in question.pictures}) == MANY * MANY
    assert {question.tokens for question in side.questions} == {FEW_TOKENS}


async def test_sides_take_turns_in_being_first(pictures: Pictures) -> None:
    order: list[str] = []

    class Named(Asked):
        def __init__(self, name: str) -> None:
            super().__init__()
            self._name = name

        async def ask(self, question: Question) -> Answer:
            order.append(self._name)
            return await super().ask(question)

    rounds = Rounds({n: Named(n) for n in "abc"}, pictures, OPTIONS, lambda doing: None)
    for _ in range(3):
        await rounds.single()
    assert len(set(order[::6])) == 3


async def test_sides_that_answer_differently_end_the_bench(pictures: Pictures) -> None:
    rounds = Rounds({"split": Asked(), "fused": Asked("no")}, pictures, OPTIONS, lambda doing: None)
    with pytest.raises(EngineError, match=r"do not answer the same.*'yes'.*'no'"):
        await rounds.run()


async def test_an_answer_that_is_too_short_ends_the_bench(pictures: Pictures) -> None:
    rounds = Rounds({"split": Asked(tokens=5)}, pictures, OPTIONS, lambda doing: None)
    with pytest.raises(EngineError, match="5 tokens instead of 32"):
        await rounds.single()


async def test_an_asker_waits_for_its_answer_before_it_asks_again(pictures: Pictures) -> None:
    (path,) = pictures.new(1)
    side = Asked()
    measured = await burst(side, [[Question("a", (path,), 3)] * 5])
    assert (side.most, len(measured.answers)) == (1, 5)


async def test_engines_of_one_side_share_the_questions_out(pictures: Pictures) -> None:
    (path,) = pictures.new(1)
    asked: list[int] = []

    class Engine:
        def __init__(self, number: int) -> None:
            self.number = number

        async def answer(self, text: str, pictures: object, tokens: int, heard: object):  # type: ignore[no-untyped-def]
            asked.append(self.number)
            return tokens, text

    side = EngineSide(Engine(1), Engine(2))
    for _ in range(4):
        assert (await side.ask(Question("a", (path,), 3))).tokens == 3
    assert asked == [1, 2, 1, 2]


@pytest.mark.parametrize(
    ("given", "size"), [(None, (504, 896)), ("364x532", (364, 532)), ("728x1288", (728, 1288))]
)
def test_pictures_have_a_buckets_size(plan: Plan, given: str | None, size: tuple[int, int]) -> None:
    assert picture_size(plan, given) == size


@pytest.mark.parametrize("given", ["100x100", "728", "x", "728x-1", "1288x728", "", "²x³"])
def test_no_other_sizes(plan: Plan, given: str) -> None:
    with pytest.raises(SettingError, match="504x896"):
        picture_size(plan, given)


@pytest.mark.parametrize("given", ["0x0", "56x55", "4097x56"])
def test_sizes_that_no_picture_has(empty_folder: Path, given: str) -> None:
    """LLaVA-NeXT has no buckets, so any size is taken that can be drawn."""
    plan = make_plan(read_settings({"target": "cpu", "model": "llava-next"}))
    assert not plan.buckets
    with pytest.raises(SettingError, match="between 56 and 4096"):
        picture_size(plan, given)


@pytest.mark.parametrize("size", [(56, 4096), (4096, 56)])
def test_long_pictures_can_be_drawn(tmp_path: Path, size: tuple[int, int]) -> None:
    (path,) = Pictures(tmp_path, *size, seed=0).new(1)
    assert Image.open(path).size == size[::-1]


def test_no_other_topology(empty_folder: Path) -> None:
    for flags in (
        {"topology": "fused"},
        {"topology": "remote", "vision_url": "http://a", "language_url": "http://b"},
        {"model": "phi4_mm"},
    ):
        plan = make_plan(read_settings({"target": "cpu", **flags}))
        with pytest.raises(SettingError, match=r"on this machine.*--topology split"):
            check_plan(plan)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sides": ("split", "fussed")}, "no 'fussed'. Did you mean fused"),
        ({"sides": ("fused", "bare")}, "split or page must be among them"),
        ({"sides": ()}, "split or page must be among them"),
        ({"sides": ("split", "split")}, "name each once"),
        ({"repeats": 0}, "--repeats must be between 1 and 1000"),
        ({"tokens": 1001}, "--tokens must be between 1 and 1000"),
        ({"streams": 17}, "--max-queue of 68 or more"),
    ],
)
def test_options_that_are_wrong(changes: dict[str, object], message: str) -> None:
    from dataclasses import replace

    with pytest.raises(SettingError, match=message):
        check_options(replace(OPTIONS, **changes), places=16)  # type: ignore[arg-type]
    check_options(OPTIONS, places=16)
