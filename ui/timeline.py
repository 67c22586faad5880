"""The two-lane timeline of an answer: what each device group did, to scale."""

from __future__ import annotations

from dataclasses import dataclass

from backend.types import Result

EMPTY = (
    '<p class="bf-empty">After an answer: when the vision encoder worked, when the language decoder'
    " took over, and how fast it spoke.</p>"
)


SHOWN_S = 0.01
"""A shorter wait in the queue is none."""


@dataclass(frozen=True, slots=True)
class Span:
    """One bar: seconds from the request."""

    name: str
    kind: str
    start: float
    end: float


def spans(result: Result) -> tuple[list[Span], list[Span]]:
    """The bars of device group A and of device group B."""
    t = result.timings
    fetched = t.fetch_s
    prepared = fetched + t.prepare_s
    turn = prepared + t.queue_s
    encoded = turn + t.encode_s
    vision = [
        Span("fetch", "fetch", 0, fetched),
        Span("prepare", "prepare", fetched, prepared),
        Span("encode", "encode", turn, encoded),
    ]
    if not result.images:
        vision, prepared, turn, encoded = [], 0.0, t.queue_s, t.queue_s
    first = max(t.ttft_s, encoded)
    language = [
        Span("queue", "queue", prepared, turn if t.queue_s >= SHOWN_S else prepared),
        Span("prompt", "prefill", encoded, first),
        Span("answer", "decode", first, max(first, first + t.decode_s)),
    ]
    return [s for s in vision if s.end > s.start], [s for s in language if s.end > s.start]


def seconds(value: float) -> str:
    """A duration as a person reads it."""
    return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.2f} s"


def rate(result: Result) -> float:
    """Tokens a second after the first one; 0 where there were too few to say."""
    tokens, decode = result.usage.completion_tokens, result.timings.decode_s
    return (tokens - 1) / decode if tokens > 1 and decode > 0 else 0.0


def panel(result: Result | None, answered: int = 0) -> str:
    """The lanes, the figures beneath them, and the same in words for a screen reader.

    `answered` counts the page's answers: by it `aloud.js` knows a new one from one looked at again.
    """
    head = f'<h2 class="bf-h" data-answered="{answered}">Timeline</h2>'
    if result is None:
        return head + EMPTY
    vision, language = spans(result)
    total = max([result.timings.total_s, *(s.end for s in vision + language)], default=0.0) or 1.0
    reused = bool(result.images) and not result.timings.encode_s
    note = "embedding reused" if reused else "" if result.images else "no image"
    return (
        f'{head}<div class="bf-lanes" role="img" aria-label="{_words(result, reused)}">'
        f"{_lane('a', 'A', 'vision', vision, total, note)}"
        f"{_lane('b', 'B', 'language', language, total, '')}"
        f'<div class="bf-axis"><span>0</span><span>{seconds(total)}</span></div></div>'
        f'<dl class="bf-figures">{_figures(result)}</dl>'
    )


def _lane(lane: str, letter: str, name: str, bars: list[Span], total: float, note: str) -> str:
    drawn = "".join(
        f'<i class="bf-bar bf-bar-{bar.kind}" style="left:{100 * bar.start / total:.2f}%;'
        f'width:{max(100 * (bar.end - bar.start) / total, 0.4):.2f}%"></i>'
        for bar in bars
    )
    legend = "".join(
        f'<li class="bf-key-{bar.kind}">{bar.name} <b>{seconds(bar.end - bar.start)}</b></li>'
        for bar in bars
    )
    extra = f'<li class="bf-key-none">{note}</li>' if note else ""
    return (
        f'<div class="bf-lane bf-lane-{lane}">'
        f'<span class="bf-lane-name"><b>{letter}</b> {name}</span>'
        f'<div class="bf-track">{drawn}</div><ul class="bf-legend">{legend}{extra}</ul></div>'
    )


def _figures(result: Result) -> str:
    usage, speed = result.usage, rate(result)
    figures = [
        ("first token", seconds(result.timings.ttft_s) if result.timings.ttft_s else "&ndash;"),
        ("tokens / s", f"{speed:.0f}" if speed else "&ndash;"),
        ("prompt tokens", f"{usage.prompt_tokens:,}" if usage.prompt_tokens else "&ndash;"),
        ("of them image", f"{usage.image_tokens:,}"),
        ("answer tokens", f"{usage.completion_tokens:,}"),
        ("total", seconds(result.timings.total_s)),
    ]
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in figures)


def _words(result: Result, reused: bool) -> str:
    t = result.timings
    if not result.images:
        seen = "No image"
    elif reused:
        seen = "Group A reused the image embedding"
    else:
        seen = (
            f"Group A fetched for {seconds(t.fetch_s)}, prepared for {seconds(t.prepare_s)} and"
            f" encoded for {seconds(t.encode_s)}"
        )
    if t.queue_s >= SHOWN_S:
        seen += f"; the question waited {seconds(t.queue_s)} for its turn"
    return (
        f"{seen}; group B gave its first token after {seconds(t.ttft_s)} and decoded for"
        f" {seconds(t.decode_s)}; {seconds(t.total_s)} in all."
    )
