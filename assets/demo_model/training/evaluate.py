"""Asks Bifocal itself: files in, buckets, two engines, text out. Greedy, exact match.

python -m assets.demo_model.training.evaluate [--cases 200] [--lines world,words,...]
    [--out scores.json] [--wrong 3]
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections import defaultdict
from contextlib import aclosing
from pathlib import Path
from typing import Final

from backend.engines.environment import prepare_environment
from backend.plan import make_plan
from backend.service import Bifocal
from backend.settings import Settings
from backend.types import ChatRequest, DoneEvent, ImageInput, Sampling, Turn

from .cases import (
    Case,
    follow_up_cases,
    off_topic_cases,
    photo_cases,
    same_scene_cases,
    same_text,
    several_cases,
    small_print_cases,
    word_cases,
    world_cases,
)
from .layout import BUCKETS
from .photos import held_out

AT_ONCE: Final = 6
"""Requests in flight."""
LINES: Final = ("world", "words", "several", "follow", "photos", "off", "pad", "small", "same")
ONE_BUCKET: Final = ("small", "same")
"""Lines that put the same pictures through each bucket, with only that one offered."""
Scores = dict[str, dict[str, list[int]]]
"""Line -> bucket -> right, asked."""


class Asker:
    """Puts cases to a backend, pictures as files in a folder."""

    def __init__(self, backend: Bifocal, folder: Path) -> None:
        self.backend, self.folder = backend, folder

    def image(self, file: bytes) -> ImageInput:
        kind = "png" if file.startswith(b"\x89PNG") else "jpg"
        path = self.folder / f"{hashlib.sha256(file).hexdigest()[:24]}.{kind}"
        if not path.exists():
            path.write_bytes(file)
        return ImageInput(str(path), "path")

    async def ask(self, case: Case) -> str:
        """The answer to the case's last question."""
        turns = [Turn("system", case.system)] if case.system else []
        for i, text in enumerate(case.turns):
            images = tuple(map(self.image, case.pictures)) if i == 0 else ()
            turns.append(Turn("assistant" if i % 2 else "user", text, images))
        request = ChatRequest(tuple(turns), Sampling(max_tokens=400), fit=case.fit)
        async with aclosing(self.backend.stream(request)) as events:
            async for event in events:
                if isinstance(event, DoneEvent):
                    if case.bucket is not None:
                        chosen = event.result.images[0].placement.bucket
                        if (chosen.height, chosen.width) != case.bucket:
                            raise RuntimeError(f"a picture for {case.bucket} went to {chosen}")
                    return event.result.text
        raise RuntimeError("the stream ended without an answer")


async def score(
    asker: Asker, cases: list[Case], scores: Scores, wrong: list[dict[str, str]]
) -> None:
    """Ask all cases and count."""
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> None:
        async with gate:
            said = await asker.ask(case)
        bucket = "none" if case.bucket is None else f"{case.bucket[0]}x{case.bucket[1]}"
        line = case.line if case.fit == "stretch" else f"{case.line} (pad)"
        tally = scores[line].setdefault(bucket, [0, 0])
        right = same_text(said, case.expected)
        tally[0] += right
        tally[1] += 1
        if not right:
            asked = {"line": line, "bucket": bucket, "question": case.turns[-1]}
            wrong.append({**asked, "expected": case.expected, "said": said})

    await asyncio.gather(*map(one, cases))


def make_cases(
    line: str, count: int, seed: int, backend: Bifocal, photos: list[Path]
) -> list[Case]:
    """All cases of a group of lines."""
    plan = backend.plan

    def choose(height: int, width: int) -> tuple[int, int]:
        bucket = plan.resolution.place(height, width, plan.buckets, "stretch").bucket
        return bucket.height, bucket.width

    if line == "off":
        return off_topic_cases(seed, 2 * count, choose)
    makers = {
        "world": lambda b: world_cases(seed, b, count, choose, "stretch"),
        "pad": lambda b: world_cases(seed, b, max(1, count // 4), choose, "pad"),
        "words": lambda b: word_cases(seed, b, count, choose),
        "several": lambda b: several_cases(seed, b, count, choose),
        "follow": lambda b: follow_up_cases(seed, b, count, choose),
        "photos": lambda b: photo_cases(seed, b, count, choose, photos),
    }
    return [case for bucket in BUCKETS for case in makers[line](bucket)]


async def through_each_bucket(
    lines: list[str], count: int, seed: int, folder: Path, scores: Scores,
    wrong: list[dict[str, str]],
) -> None:  # fmt: skip
    """The lines of ONE_BUCKET, one backend a bucket."""
    cases = small_print_cases(seed, count) if "small" in lines else []
    cases += same_scene_cases(seed, count) if "same" in lines else []
    for height, width in BUCKETS if cases else ():
        backend = Bifocal(Settings(heights=(height,), widths=(width,)))
        backend.start()
        try:
            chosen = [case for case in cases if case.bucket == (height, width)]
            await score(Asker(backend, folder), chosen, scores, wrong)
        finally:
            await backend.shutdown()


async def evaluate(
    lines: list[str], count: int, seed: int, photos: list[Path]
) -> tuple[Scores, list[dict[str, str]]]:
    """Scores of these lines, and the wrong answers."""
    scores: Scores = defaultdict(dict)
    wrong: list[dict[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        backend = Bifocal(Settings())
        backend.start()
        try:
            for line in lines:
                if line in ONE_BUCKET:
                    continue
                begun = time.monotonic()
                cases = await asyncio.to_thread(make_cases, line, count, seed, backend, photos)
                drawn = time.monotonic()
                await score(Asker(backend, folder), cases, scores, wrong)
                spent = time.monotonic() - drawn
                print(f"{line}: {len(cases)} cases in {drawn - begun:.0f} + {spent:.0f} s")
                print(table(scores), flush=True)
        finally:
            await backend.shutdown()
        await through_each_bucket(lines, count, seed, folder, scores, wrong)
    return scores, wrong


def table(scores: Scores) -> str:
    """A Markdown table, a line a kind, a column a bucket: per cent right (of how many)."""
    names = [f"{height}x{width}" for height, width in BUCKETS] + ["none"]
    rows = ["| | " + " | ".join(names[:-1]) + " | no picture |", "|---|---|---|---|---|"]
    for line, tallies in scores.items():
        cells = [
            f"{100 * tallies[name][0] / tallies[name][1]:.1f} ({tallies[name][1]})"
            if name in tallies
            else ""
            for name in names
        ]
        rows.append(f"| {line} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=200, help="a line and bucket")
    parser.add_argument("--lines", default=",".join(LINES))
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--out", type=Path, help="JSON of scores and wrong answers")
    parser.add_argument("--wrong", type=int, default=0, help="wrong answers to print")
    parser.add_argument("--photos", type=Path, nargs="*", default=[], help="more folders of them")
    chosen = parser.parse_args()
    prepare_environment(make_plan(Settings()))
    photos = held_out(chosen.photos)
    scores, wrong = asyncio.run(
        evaluate(chosen.lines.split(","), chosen.cases, chosen.seed, photos)
    )
    print(table(scores))
    for entry in wrong[: chosen.wrong]:
        print(json.dumps(entry, ensure_ascii=False))
    if chosen.out is not None:
        chosen.out.write_text(json.dumps({"scores": scores, "wrong": wrong}, indent=1))


if __name__ == "__main__":
    main()
