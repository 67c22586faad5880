"""Untrusted Markdown made safe to show."""

from __future__ import annotations

import re

# Code and formulas: there Gradio's Markdown shows everything as it is, markup too.
_AS_IT_IS = re.compile(
    r"(```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|\$\$.+?\$\$|\\\(.+?\\\)|\\\[.+?\\\])",
    re.DOTALL,
)

# Gradio draws these as pictures, whose labels may have markup with handlers in it.
_DIAGRAM = re.compile(r"(?<=```)\s*mermaid\b", re.IGNORECASE)


def plain_markdown(text: str) -> str:
    """The same, but HTML shows as text, pictures become links, and diagrams stay code.

    Whatever slips through still meets the page's sanitizer and its content security policy.
    """
    parts = _AS_IT_IS.split(text)
    parts[::2] = [part.replace("<", "&lt;").replace("![", "&#33;[") for part in parts[::2]]
    return _DIAGRAM.sub("text", "".join(parts))
