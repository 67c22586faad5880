"""Flags: one for each setting, and each command's own."""

from __future__ import annotations

import argparse
import sys
import typing
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from backend.errors import SettingError
from backend.settings import Settings, flag, nearest

SHORT = {"model": "-m", "tensor_parallel_size": "-tp"}
"""Short flags that vLLM's multi-image example has; `-n` is the number of images."""

BENCH_SIDES = "split,fused,bare,page"
BENCH_FLAGS = (
    ("--repeats", 3, "how often each measurement is made"),
    ("--streams", 16, "askers at the same time in the load"),
    ("--rounds", 1, "times that each of them asks about a new and a seen image"),
    ("--tokens", 64, "tokens of every answer in the load"),
)

DEFAULT_PROMPT = "What is the content of each image?"


class Parser(argparse.ArgumentParser):
    """An ArgumentParser whose errors are Bifocal's, naming the nearest flag."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ")
        if unknown == message:
            raise SettingError(f"{message[0].upper()}{message[1:]}. See --help.")
        word = (unknown.split() or ["An empty word"])[0].partition("=")[0]
        raise SettingError(f"{word} is not something this command takes. See --help.")

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse does, after a look for unknown flags.

        argparse would take the value of one for the command, show it, though it may be a password,
        and would not know the command's own flags where it complains.
        """
        words = sys.argv[1:] if args is None else list(args)
        self._refuse_unknown_flags(words)
        return super().parse_args(words, namespace)

    def _refuse_unknown_flags(self, words: Sequence[str]) -> None:
        commands = self._subparsers._group_actions[0].choices if self._subparsers else None
        known = self._option_string_actions
        rest = iter(enumerate(words, 1))
        for place, word in rest:
            name, equals, _ = word.partition("=")
            if word == "--":
                return
            if commands and not word.startswith("-"):
                if word in commands:
                    commands[word]._refuse_unknown_flags(words[place:])  # type: ignore[index]
                return
            if name in known:
                if not equals and known[name].nargs != 0:
                    next(rest, None)  # its value
            elif name.startswith("--") and " " not in name:
                hint = nearest(name, [option for option in known if option.startswith("--")])
                raise SettingError(f"{name} is not something this command takes. {hint}")


def build_parser() -> Parser:
    """All commands; `serve` is the one without a name."""
    parser = Parser(
        prog="launch.py",
        description="Bifocal: vision-language models as two vLLM engines, and a page to see it.",
        epilog="Every setting is also an environment variable: BIFOCAL_LIKE_THIS.",
        allow_abbrev=False,
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=Parser)
    add_settings(parser)
    for name, description in {
        "serve": "the web app (also without a command)",
        "ask": "ask one question, the answer streamed to stdout",
        "models": "the catalogue of models, and which of them the installed vLLM can run",
        "request": "what would be sent for a question; starts no engine and downloads nothing",
        "buckets": "which resolution bucket each image gets, and why; starts no engine",
        "engine-args": "the vLLM engine arguments of the current settings; starts nothing",
        "bench": "split against fused on the same model, and the app against the bare engines",
        "doctor": "whether this machine can run that, and what to do where not; starts nothing",
    }.items():
        command = commands.add_parser(
            name, help=description, description=description, allow_abbrev=False
        )
        add_settings(command, SHORT if name in ("ask", "request") else None)
        if name != "serve":
            command.add_argument("--json", action="store_true", help="answer as JSON")
        if name == "ask":
            _add_question(command)
            _add_ask(command)
        if name == "request":
            _add_question(command)
        if name == "bench":
            _add_bench(command)
        if name == "buckets":
            command.add_argument("images", nargs="+", metavar="IMAGE", help="path or URL")
    return parser


def add_settings(parser: argparse.ArgumentParser, short: Mapping[str, str] | None = None) -> None:
    """One flag a setting, some with a short one; absent flags are left to the environment."""
    group = parser.add_argument_group("settings")
    for name, field in Settings.model_fields.items():
        options: dict[str, Any] = {"dest": f"setting_{name}", "default": argparse.SUPPRESS}
        if field.annotation is bool:
            options["action"] = argparse.BooleanOptionalAction
        elif name == "auth":
            options["action"], options["metavar"] = "append", "USER:PASSWORD"
        else:
            options["metavar"] = _metavar(field.annotation, name)
        flags = [flag(name)] if not short or name not in short else [short[name], flag(name)]
        group.add_argument(*flags, help=_help(field), **options)


def setting_flags(arguments: argparse.Namespace) -> dict[str, Any]:
    """The settings given as flags, by field name."""
    prefix = "setting_"
    return {
        name.removeprefix(prefix): value
        for name, value in vars(arguments).items()
        if name.startswith(prefix)
    }


def _add_question(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--image", action="append", default=[], metavar="PATH_OR_URL", help="repeatable")
    add("-n", "--num-images", type=int, metavar="N", help="the first N bundled examples")
    add("--prompt", default=DEFAULT_PROMPT, help=f'default: "{DEFAULT_PROMPT}"')
    add("--method", choices=("chat", "generate"), help="chat template, or the row's own prompt")


def _add_ask(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--system-prompt", default="", help="instructions that come before the conversation")
    add("--max-tokens", type=int, help="longest answer, default 256 or the model's own")
    add("--temperature", type=float, default=0.0, help="0 is greedy, the default")
    add("--top-p", type=float, default=1.0, help="default 1")
    add("--server", metavar="URL", help="ask a running app instead of starting engines")


def _add_bench(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("--sides", default=BENCH_SIDES, help=f"what is compared (default {BENCH_SIDES})")
    for name, default, meaning in BENCH_FLAGS:
        add(name, type=int, default=default, metavar="N", help=f"{meaning} (default {default})")
    add("--picture", metavar="HEIGHTxWIDTH", help="pixels, a bucket; default the middle one")


def _metavar(annotation: Any, name: str) -> str:
    choices = [
        value
        for member in (annotation, *typing.get_args(annotation))
        if typing.get_origin(member) is typing.Literal
        for value in typing.get_args(member)
    ]
    return "|".join(choices) if choices else name.upper()


def _help(field: Any) -> str:
    text = str(field.description).replace("%", "%%")
    default = field.default
    if default is None or default is False or default == ():
        return text
    shown = ",".join(map(str, default)) if isinstance(default, tuple) else default
    return f"{text} (default {shown})"
