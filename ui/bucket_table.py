"""Why this bucket: the reason, and what every candidate would keep and cost."""

from __future__ import annotations

from html import escape

from backend.placement import Candidate, Placement
from ui.render import pair

TERMS = (
    "Effective: pixels of the image that the bucket has room for, its shape kept; wasted: the rest"
    " of the bucket. A bucket is encoded in whole tokens, so at a size that may differ a little."
)


def why(placement: Placement, ctx_len: int, number: int, key: str) -> str:
    """A closed section; the page keeps it open under `key` once a person has opened it."""
    if not placement.candidates:
        return f'<p class="bf-why">{escape(placement.why)}</p>' if placement.why else ""
    rows = "".join(_candidate(candidate, ctx_len) for candidate in placement.candidates)
    return (
        f'<details data-keep="why-{key}"><summary>Why this bucket?</summary>'
        f"<p>{escape(placement.why)}</p><p>{TERMS}</p>"
        '<div class="bf-scroll"><table>'
        f"<caption>What each bucket would keep of image {number}, and what it would cost</caption>"
        '<thead><tr><th scope="col">Bucket</th>'
        '<th scope="col">Tokens <small>of context</small></th>'
        '<th scope="col">Effective pixels</th><th scope="col">Wasted pixels</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _candidate(candidate: Candidate, ctx_len: int) -> str:
    bucket = candidate.bucket
    name = pair(*(bucket.compiled or (bucket.height, bucket.width)))
    real = f" <small>encoded at {pair(bucket.height, bucket.width)}</small>"
    snapped = real if bucket.compiled not in (None, (bucket.height, bucket.width)) else ""
    mark = ' <span class="bf-chosen">chosen</span>' if candidate.chosen else ""
    kind = ' class="bf-won"' if candidate.chosen else ""
    return (
        f'<tr{kind}><th scope="row">{name}{snapped}{mark}</th>'
        f"<td>{bucket.tokens:,} <small>{share(bucket.tokens, ctx_len)}</small></td>"
        f"<td>{candidate.effective_pixels:,}</td><td>{candidate.wasted_pixels:,}</td></tr>"
    )


def share(tokens: int, ctx_len: int) -> str:
    """Tokens as a share of the context."""
    return f"{100 * tokens / ctx_len:.1f} %"
