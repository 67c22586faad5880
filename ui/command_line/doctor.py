"""`doctor`: whether this machine can run what the settings say, and what to do where not."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterator

from backend.doctor.doctor import examine
from backend.doctor.finding import Finding, failed, ok, warning
from backend.errors import SettingError
from backend.plan import make_plan
from backend.settings import Settings
from ui.command_line.output import Output
from ui.command_line.serve import listen

SOMETHING_FAILED = 1
MARKS = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}
GRADIO = ("api.gradio.app", 443)
REACH_S = 5.0


def run(arguments: argparse.Namespace, settings: Settings, output: Output) -> int:
    """A line each as it is found, or all of them as JSON; the exit status."""
    found: list[Finding] = []
    for finding in _all(settings):
        found.append(finding)
        if not output.as_json:
            output.write(_line(finding))
    bad = any(finding.state == "failed" for finding in found)
    if output.as_json:
        output.json({"ok": not bad, "findings": [finding.as_json() for finding in found]})
    return SOMETHING_FAILED if bad else 0


def _all(settings: Settings) -> Iterator[Finding]:
    yield from examine(make_plan(settings))
    yield _port(settings)
    yield _tunnel(settings)


def _line(finding: Finding) -> str:
    advice = f": {finding.advice}" if finding.advice else ""
    return f"{MARKS[finding.state]}  {finding.name}: {finding.what}{advice}\n"


def _port(settings: Settings) -> Finding:
    """Whether the page's address can be had."""
    try:
        listen(settings.host, settings.port).close()
    except SettingError as error:
        what, _, advice = error.message.partition(": ")
        return failed("page", what, advice.rstrip("."))
    return ok("page", f"{settings.host} port {settings.port} is free")


def _tunnel(settings: Settings) -> Finding:
    """Whether Gradio's tunnel can be asked for, where it is."""
    if not settings.share:
        return ok("tunnel", "not asked for (--share)")
    try:
        socket.create_connection(GRADIO, REACH_S).close()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        return warning(
            "tunnel", f"{GRADIO[0]} cannot be reached ({reason})",
            "there will be no public link; the app goes on without",
        )  # fmt: skip
    return ok("tunnel", f"{GRADIO[0]} answers")
