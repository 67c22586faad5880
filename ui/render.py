"""Values into HTML, purely; everything that came from outside is escaped here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from backend.types import StageEvent
from ui.session import Attachment

if TYPE_CHECKING:
    from ui.examples import Example


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


def pair(height: int, width: int) -> str:
    """A size as the whole page writes one; height first, as the settings have it."""
    return f"{height} &times; {width}"


def editing(index: int | None, count: int) -> str:
    """That a question is being edited, and what sending it will do to those after it."""
    if index is None:
        return ""
    after = count - index - 1
    rest = "" if not after else " and what came after it" if after > 1 else " and the one after it"
    return (
        f'<p class="bf-notice bf-editing" role="status"><span>Editing question {index + 1}:'
        f" sending replaces it{rest}.</span>"
        '<button type="button" data-act="cancel">Cancel</button></p>'
    )


def stage(event: StageEvent | None, seconds: float) -> str:
    """What is happening to the question under way."""
    if event is None:
        return ""
    lane = "b" if event.stage in ("prefill", "decode") else "a"
    if event.stage in ("waiting", "queue"):
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


def notice(message: str, act: str = "", label: str = "") -> str:
    """A message that is not a fault, with a button for what may be done about it, if anything."""
    button = f' <button type="button" data-act="{act}">{label}</button>' if act else ""
    return f'<p class="bf-notice" role="status"><span>{escape(message)}</span>{button}</p>'


def examples(cards: Sequence[tuple[Example, str]]) -> str:
    """The bundled pictures as buttons, each with a thumbnail (data URI)."""
    if not cards:
        return ""
    rows = "".join(_card(index, example, src) for index, (example, src) in enumerate(cards))
    return (
        '<h2 class="bf-h">Try one <small>asks at once, in a new conversation</small></h2>'
        f'<ul class="bf-cards">{rows}</ul>'
    )


def _card(index: int, example: Example, src: str) -> str:
    note = f'<em class="bf-note">{escape(example.note)}</em>' if example.note else ""
    return (
        f'<li><button type="button" data-example="{index}" title="{escape(example.question)}">'
        f'<img src="{escape(src)}" alt="" width="72" height="56">'
        f"<span><b>{escape(example.title)}</b><small>{escape(example.question)}</small>{note}"
        "</span></button></li>"
    )
