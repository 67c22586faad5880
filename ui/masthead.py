"""The top of the page, purely: what runs here, and what each engine is doing."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from backend.types import EngineStatus, Health

if TYPE_CHECKING:
    from backend.plan import Plan

ROLES = {
    "vision": ("a", "Vision encoder", "group A"),
    "language": ("b", "Language decoder", "group B"),
    "fused": ("ab", "Fused engine", "both stages"),
}

STARTING = ("loading", "restarting")
UP = ("ready", "busy")


def header(plan: Plan, logo: str) -> str:
    """Mark, name, model, and what it runs on, with the compiled heights and widths in pixels."""
    pairs = zip(plan.heights, plan.widths, strict=True)
    sizes = ", ".join(f"{height}&times;{width}" for height, width in pairs)
    facts = [
        ("model", escape(plan.label)),
        ("target", escape(plan.target)),
        ("topology", escape(plan.topology)),
        ("compiled buckets, height &times; width", sizes or "none"),
    ]
    chips = "".join(f"<li><small>{key}</small> {value}</li>" for key, value in facts)
    return (
        f'<header class="bf-head"><span class="bf-mark" aria-hidden="true">{logo}</span>'
        f'<div><h1>Bifocal</h1><ul class="bf-chips" aria-label="What is running">{chips}</ul></div>'
        "</header>"
    )


def status(health: Health) -> str:
    """One panel an engine; a live region, as its words change rarely."""
    pills = "".join(map(_pill, health.engines))
    note = _degraded(health) if health.status == "degraded" else ""
    return (
        f'<div role="status" aria-live="polite" aria-label="Engines">'
        f'<div class="bf-engines">{pills}</div>{note}</div>'
    )


def _pill(engine: EngineStatus) -> str:
    lane, name, group = ROLES.get(engine.role, ("ab", engine.role, ""))
    state = str(engine.state)
    if engine.state == "busy" and engine.capacity:
        state = f"busy, {engine.running} of {engine.capacity}"
    devices = ", ".join(map(str, engine.devices))
    plural = "s" if len(engine.devices) > 1 else ""
    where = f"{group}, device{plural} {devices}" if devices else group
    detail = f'<span class="bf-detail">{escape(engine.detail)}</span>' if engine.detail else ""
    full = escape(f"{state}: {engine.detail}" if engine.detail else state)
    bar = '<i class="bf-progress" aria-hidden="true"></i>' if engine.state in STARTING else ""
    return (
        f'<div class="bf-engine bf-lane-{lane} bf-is-{engine.state}"><i class="bf-lamp"></i>'
        f'<span class="bf-who"><b>{escape(name)}</b> <small>{escape(where)}</small></span>'
        f'<span class="bf-state" title="{full}">{escape(state)}{detail}</span>{bar}</div>'
    )


def _degraded(health: Health) -> str:
    """What can still be asked while one of two engines is away."""
    away = {engine.role: engine.state for engine in health.engines if engine.state not in UP}
    if "language" in away:
        what = "Questions wait until the language decoder is back."
    elif away.get("vision") == "failed":
        what = "New pictures cannot be looked at; text and pictures seen before are answered."
    else:
        what = (
            "New pictures wait until the vision encoder is back; text and pictures seen before are"
            " answered."
        )
    return f'<p class="bf-degraded">{what}</p>'


def link(address: str, problem: str) -> str:
    """The public link, once there is one, else why there is none (yet)."""
    if address:
        where = escape(address)
        said = (
            f'Shared: <a href="{where}" target="_blank" rel="noopener">{where}</a>'
            " <small>for whoever has the login</small>"
        )
    elif problem:
        said = f"No share link: {escape(problem)}. Bifocal goes on here."
    else:
        said = "Asking Gradio for a share link …"
    return f'<p class="bf-link" role="status">{said}</p>'
