"""Values into HTML and Markdown, purely; everything that came from outside is escaped here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from backend.types import EngineStatus, Health, StageEvent
from ui.session import Attachment, Exchange

_CODE = re.compile(r"(```.*?(?:```|\Z)|`[^`\n]*`)", re.DOTALL)

ROLES = {
    "vision": ("a", "Vision encoder", "group A"),
    "language": ("b", "Language decoder", "group B"),
    "fused": ("ab", "Fused engine", "both stages"),
}

STATES = {
    "loading": "loading",
    "ready": "ready",
    "busy": "busy",
    "restarting": "restarting",
    "failed": "failed",
}


def plain_markdown(text: str) -> str:
    """Untrusted Markdown whose HTML shows as text and whose pictures become links.

    Code is left alone: there Markdown shows everything as it is. Whatever slips through still
    meets the page's sanitizer and its content security policy.
    """
    parts = _CODE.split(text)
    parts[::2] = [part.replace("<", "&lt;").replace("![", "&#33;[") for part in parts[::2]]
    return "".join(parts)


def picture(item: Attachment, number: int, *, hint: str = "") -> str:
    """One thumbnail with its number; `alt` is the file's name or address."""
    name = escape(item.placed.source)
    alt = f"Image {number}: {name}"
    shown = (
        f'<img src="{escape(item.thumbnail)}" alt="{alt}">'
        if item.thumbnail
        else f'<span class="bf-nothumb" role="img" aria-label="{alt}">{number}</span>'
    )
    return f'{shown}<span class="bf-caption" title="{name}">Image {number}{hint}</span>'


def draft(items: Sequence[Attachment], first: int) -> str:
    """The images about to be sent, numbered from `first`, each with its remove button."""
    if not items:
        return ""
    rows = [
        f'<li class="bf-thumb">{picture(item, first + index)}'
        f'<button type="button" data-remove="{index}" aria-label="Remove image {first + index}'
        f' ({escape(item.placed.source)})"><span aria-hidden="true">&times;</span></button></li>'
        for index, item in enumerate(items)
    ]
    return f'<ol class="bf-thumbs" aria-label="Images to be sent">{"".join(rows)}</ol>'


def live(text: str) -> list[dict[str, Any]]:
    """The last message while its answer is under way."""
    return [_message("assistant", plain_markdown(text) or "…")]


def transcript(exchanges: Iterable[Exchange]) -> list[dict[str, Any]]:
    """The chat's messages."""
    messages: list[dict[str, Any]] = []
    number = 1
    for exchange in exchanges:
        figures = "".join(
            f'<span class="bf-shot">{picture(item, number + index)}</span>'
            for index, item in enumerate(exchange.attachments)
        )
        number += len(exchange.attachments)
        shots = [_html(f'<div class="bf-shots">{figures}</div>')] if figures else []
        messages.append(_message("user", plain_markdown(exchange.prompt), *shots))
        if exchange.result:
            messages.append(_message("assistant", answer(exchange)))
    return messages


def _message(role: str, text: str, *before: dict[str, Any]) -> dict[str, Any]:
    # A typed part, because Gradio re-indents bare strings.
    return {"role": role, "content": [*before, {"type": "text", "text": text}]}


def _html(markup: str) -> dict[str, Any]:
    # A part of its own, because Gradio labels a message with its text, which must not be markup.
    return {
        "type": "component",
        "component": "html",
        "value": markup,
        "constructor_args": {},
        "props": {"html_template": "${value}", "apply_default_css": False},
    }


def answer(exchange: Exchange) -> str:
    """A finished answer, saying so where it was cut short."""
    result = exchange.result
    if result is None:
        return ""
    ends = {
        "length": f"Cut short at {result.usage.completion_tokens} tokens. Raise “Max tokens” in the"
        " settings for a longer answer.",
        "abort": "Stopped.",
    }
    note = ends.get(result.finish_reason or "", "")
    foot = f'\n\n<span class="bf-cut">{note}</span>' if note else ""
    notes = "".join(f'\n\n<span class="bf-cut">{escape(line)}</span>' for line in result.notes)
    return plain_markdown(result.text) + notes + foot


def stage(event: StageEvent | None, seconds: float) -> str:
    """What is happening to the question under way."""
    if event is None:
        return ""
    lane = "b" if event.stage in ("prefill", "decode") else "a"
    if event.stage == "waiting":
        lane = "wait"
    clock = f'<span class="bf-clock" aria-hidden="true">{seconds:.0f} s</span>'
    return (
        f'<p class="bf-stage bf-lane-{lane}" role="status"><i class="bf-pulse"></i>'
        f"<span>{escape(event.detail)}</span>{clock if seconds >= 1 else ''}</p>"
    )


def problem(message: str) -> str:
    """A message in place; empty takes it away."""
    if not message:
        return ""
    return f'<p class="bf-problem" role="alert"><b aria-hidden="true">!</b>{escape(message)}</p>'


def notice(message: str) -> str:
    """A message that is not a fault."""
    return f'<p class="bf-notice" role="status">{escape(message)}</p>'


def status(health: Health) -> str:
    """What each engine is doing; only words that change rarely are in the live region."""
    pills = "".join(_pill(engine) for engine in health.engines)
    return f'<div class="bf-engines" role="status" aria-live="polite">{pills}</div>'


def _pill(engine: EngineStatus) -> str:
    lane, name, group = ROLES.get(engine.role, ("ab", engine.role, ""))
    state = STATES.get(engine.state, engine.state)
    if engine.state == "busy" and engine.capacity:
        state = f"busy, {engine.running} of {engine.capacity}"
    devices = ", ".join(map(str, engine.devices))
    where = f"{group}, device {devices}" if devices else group
    detail = f'<span class="bf-detail">{escape(engine.detail)}</span>' if engine.detail else ""
    full = escape(f"{state}: {engine.detail}" if engine.detail else state)
    return (
        f'<div class="bf-engine bf-lane-{lane} bf-is-{engine.state}"><i class="bf-lamp"></i>'
        f'<span class="bf-who"><b>{escape(name)}</b> <small>{escape(where)}</small></span>'
        f'<span class="bf-state" title="{full}">{escape(state)}{detail}</span></div>'
    )


def header(label: str, target: str, topology: str, logo: str) -> str:
    """The masthead: mark, name, model, and what it runs on."""
    chips = "".join(
        f"<li><small>{key}</small> {escape(value)}</li>"
        for key, value in (("model", label), ("target", target), ("topology", topology))
    )
    return (
        f'<header class="bf-head"><span class="bf-mark" aria-hidden="true">{logo}</span>'
        f'<div><h1>Bifocal</h1><ul class="bf-chips" aria-label="What is running">{chips}</ul></div>'
        "</header>"
    )


def examples(entries: Sequence[dict[str, str]]) -> str:
    """The bundled pictures as buttons; `entries` have `src` (data URI), `title`, `question`."""
    cards = "".join(
        f'<li><button type="button" data-example="{index}" title="{escape(entry["question"])}">'
        f'<img src="{escape(entry["src"])}" alt="" width="72" height="56">'
        f"<span><b>{escape(entry['title'])}</b><small>{escape(entry['question'])}</small></span>"
        "</button></li>"
        for index, entry in enumerate(entries)
    )
    if not cards:
        return ""
    return (
        '<h2 class="bf-h">Try one <small>asks at once, in a new conversation</small></h2>'
        f'<ul class="bf-cards">{cards}</ul>'
    )
