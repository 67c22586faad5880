"""`bench`: split against fused on the same model in one run, and the app against bare engines."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys

from backend.admission import places_each
from backend.bench.options import Options, check_options, check_plan, picture_size
from backend.bench.report import Report
from backend.bench.run import run_bench
from backend.errors import SettingError
from backend.plan import make_plan
from backend.service import Bifocal
from backend.settings import Settings
from ui.command_line.output import Output


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> None:
    """Measure, then print a table or the JSON. Raises SettingError and what engines raise."""
    options = _options(arguments, settings)
    # A line for every request would drown what is being told.
    logging.getLogger("bifocal").setLevel(logging.WARNING)
    report = asyncio.run(_measure(settings, options))
    output.json(report.as_json()) if output.as_json else output.write(report.text())


async def _measure(settings: Settings, options: Options) -> Report:
    page = None
    if "page" in options.sides:
        from ui.command_line.bench_page import open_page

        page = open_page
    return await run_bench(Bifocal(settings), options, _tell, page)


def _options(arguments: argparse.Namespace, settings: Settings) -> Options:
    if settings.questions_a_minute:
        raise SettingError("bench asks as fast as it can: leave out --rate-limit and --share.")
    plan = make_plan(settings)
    check_plan(plan)
    height, width = picture_size(plan, arguments.picture)
    sides = tuple(name.strip() for name in arguments.sides.split(",") if name.strip())
    options = Options(
        sides,
        arguments.repeats,
        arguments.streams,
        arguments.rounds,
        arguments.tokens,
        height,
        width,
    )
    check_options(options, places_each(settings.max_queue))
    return options


def _tell(doing: str) -> None:
    print(f"bench: {doing}", file=sys.stderr, flush=True)
