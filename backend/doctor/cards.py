"""QAIC cards: the plugin, the devices of each engine, and what is compiled already.

Sources: the public vllm-qaic plugin's documents (v0.23.0: device management, environment variables,
FAQ) and its test runner, which reads `qaic-util -q` as it is read here.
"""

from __future__ import annotations

import importlib.metadata
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from backend.doctor.finding import Finding, failed, ok, warning
from backend.doctor.program import NoAnswerError, ask, find_program
from backend.engines.qaic_args import VISIBLE_DEVICES
from backend.engines.version import installed_vllm
from backend.plan import Plan

TOOLS: Final = Path("/opt/qti-aic/tools")
COMPILED: Final = Path("~/.cache/qefficient")
"""Where compiled programs are kept, unless QEFF_HOME says otherwise."""
PROGRAMS: Final = "VLLM_QAIC_QPC_PATH"
"""The variable that names programs which were compiled before."""
PROGRAM: Final = "programqpc.bin"
RESET: Final = "sudo /opt/qti-aic/tools/qaic-util -s resets all of a card"


@dataclass(frozen=True, slots=True)
class Card:
    """One device (QID): its state, its board, and how many of its cores are free.

    The board is empty, and the counts None, where the program does not say.
    """

    qid: int
    status: str
    board: str = ""
    total: int | None = None
    free: int | None = None

    @property
    def is_busy(self) -> bool:
        """Whether somebody uses it."""
        in_use = self.total is not None and self.free is not None and self.free < self.total
        return in_use or self.status.lower() == "busy"


def read_cards(text: str) -> dict[int, Card]:
    """The devices that `qaic-util` tells of, with a line for each fact or all of them in one."""
    cards = {}
    for part in re.split(r"(?m)^(?=\s*QID\s+\d+)", text):
        found = re.match(r"\s*QID\s+(\d+)", part)
        if found:
            qid = int(found[1])
            status, board = _word("Status", part), _word("Board Serial", part)
            cards[qid] = Card(qid, status, board, _count("Total", part), _count("Free", part))
    return cards


def check_cards(
    plan: Plan, environment: Mapping[str, str] = os.environ, tools: Path = TOOLS
) -> Iterator[Finding]:
    """The plugin, the devices and the compiled programs of a plan for QAIC."""
    yield _plugin()
    yield _visible(plan, environment)
    yield from _devices(plan, tools)
    if plan.qaic_mode == "aot":
        yield _compiled(environment)


def _plugin() -> Finding:
    try:
        version = importlib.metadata.version("vllm-qaic")
    except importlib.metadata.PackageNotFoundError:
        return failed(
            "QAIC plugin", "vllm-qaic is not installed", "install it as Qualcomm's documents say"
        )
    vllm = installed_vllm()
    if vllm is None or version.split(".")[:2] != vllm.split(".")[:2]:
        beside = f"vLLM {vllm}" if vllm else "no vLLM"
        return failed(
            "QAIC plugin", f"vllm-qaic {version} is beside {beside}",
            "install the vLLM of the same version as the plugin",
        )  # fmt: skip
    return ok("QAIC plugin", f"vllm-qaic {version}")


def _visible(plan: Plan, environment: Mapping[str, str]) -> Finding:
    value = environment.get(VISIBLE_DEVICES)
    if value and plan.qaic_mode == "aot":
        return warning(
            "visible devices", f"{VISIBLE_DEVICES}={value} is set",
            "Bifocal leaves it out for its engines; unset it for those that you start by hand, as "
            "it wins over the device groups of both",
        )  # fmt: skip
    return ok("visible devices", f"{VISIBLE_DEVICES} is {value or 'not set'}")


def _devices(plan: Plan, tools: Path) -> Iterator[Finding]:
    program = find_program("qaic-util", tools)
    if program is None:
        yield failed(
            "QAIC devices", f"there is no qaic-util, neither on PATH nor in {tools}",
            "install Qualcomm's Platform SDK",
        )  # fmt: skip
        return
    try:
        cards = read_cards(ask(program, "-q"))
    except NoAnswerError as error:
        yield failed("QAIC devices", str(error), "run it by hand as root, and look into dmesg")
        return
    if not cards:
        yield failed(
            "QAIC devices", "qaic-util tells of none", "see whether /dev/accel has your cards"
        )
        return
    yield ok("QAIC devices", ", ".join(f"QID {c.qid} {c.status}" for c in cards.values()))
    for name, group in _groups(plan):
        yield _group(name, group, cards)


def _groups(plan: Plan) -> Iterator[tuple[str, tuple[int, ...]]]:
    if plan.qaic_mode == "eager":
        yield "devices of the engine", plan.eager_devices
    else:
        yield "devices of the vision encoder", plan.vision_devices
        yield "devices of the language decoder", plan.language_devices


def _group(name: str, group: tuple[int, ...], cards: Mapping[int, Card]) -> Finding:
    shown = ",".join(map(str, group))
    missing = [qid for qid in group if qid not in cards]
    if missing:
        known = ",".join(map(str, cards))
        return failed(name, f"there is no QID {missing[0]}", f"choose among {known}")
    found = [cards[qid] for qid in group]
    for card in found:
        if card.is_busy:
            return failed(
                name, f"QID {card.qid} is in use", "choose a free one, or end who uses it"
            )
        if card.status.lower() != "ready":
            return failed(
                name, f"QID {card.qid} is {card.status or 'in no known state'}",
                f"wait until it has booted; {RESET}",
            )  # fmt: skip
    boards = {card.board for card in found}
    if len(boards) > 1:
        return failed(
            name, f"{shown} are on {len(boards)} boards ({', '.join(sorted(boards))})",
            "choose QIDs of one board: an engine's devices talk to each other",
        )  # fmt: skip
    return ok(name, f"{shown}: ready and free" + (", on one board" if len(group) > 1 else ""))


def _compiled(environment: Mapping[str, str]) -> Finding:
    own = environment.get(PROGRAMS)
    if own:
        return _given_programs(own)
    folder = Path(environment.get("QEFF_HOME") or COMPILED).expanduser()
    if folder.is_dir() and any(folder.iterdir()):
        return ok("compiled programs", f"{folder} has some; those that fit are used again")
    return warning(
        "compiled programs", f"{folder} has none", "the first start compiles, which takes long"
    )


def _given_programs(value: str) -> Finding:
    """Those of a person: the encoder's and the decoder's, with a colon between them.

    The plugin gives a single one to both engines (`_get_qaic_compile_config`), and takes a folder
    with a `programqpc.bin`, or that file (`check_qpc_exists`).
    """
    paths = value.split(":")
    if len(paths) != 2:
        return failed(
            "compiled programs", f"{PROGRAMS} names {len(paths)} of them ({value})",
            "name the encoder's and the decoder's, with a colon between them, or unset it",
        )  # fmt: skip
    for path in map(Path, paths):
        if not (path / PROGRAM).is_file() and not (path.is_file() and path.name == PROGRAM):
            return failed(
                "compiled programs", f"{PROGRAMS} names {path}, where there is no {PROGRAM}",
                "correct or unset it",
            )  # fmt: skip
    return ok("compiled programs", f"from {' and '.join(paths)} ({PROGRAMS})")


def _word(name: str, part: str) -> str:
    found = re.search(rf"(?i)\b{name}\s*:?[ \t]*([\w.-]+)", part)
    return found[1] if found else ""


def _count(name: str, part: str) -> int | None:
    found = re.search(rf"(?i)\bNsp {name}\s*:\s*(\d+)", part)
    return int(found[1]) if found else None
