"""What Gradio's login page shows beside its two fields.

It draws that page without the app's own style sheet, head or title; all three go with the message.
"""

from __future__ import annotations

from backend.settings import Settings


def message(settings: Settings, style: str) -> str | None:
    """HTML with a style sheet; None where nobody has to log in."""
    if not settings.auth:
        return None
    where = (
        "User and password are on the terminal where Bifocal was started, or were set there."
        if settings.share
        else "Ask whoever started Bifocal for a user and a password."
    )
    return f"<title>Bifocal: log in</title><style>{style}</style><h1>Bifocal</h1>{where}"
