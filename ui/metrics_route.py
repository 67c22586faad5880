"""`GET /metrics`: Prometheus' text, behind the page's own users where it has any."""

from __future__ import annotations

import base64
import binascii
import secrets
from typing import TYPE_CHECKING

import fastapi
from fastapi.responses import PlainTextResponse

if TYPE_CHECKING:
    from backend.service import Bifocal

TEXT = "text/plain; version=0.0.4; charset=utf-8"
"""Prometheus' text format."""


def add_metrics(app: fastapi.FastAPI, backend: Bifocal) -> None:
    """Add the route. With `auth` it takes HTTP Basic."""
    users = [entry.encode() for entry in backend.settings.auth]

    async def metrics(request: fastapi.Request) -> PlainTextResponse:
        given = _basic(request.headers.get("authorization", ""))
        # All of them every time: how long it takes tells nothing.
        right = [secrets.compare_digest(given, user) for user in users]
        if users and not any(right):
            return PlainTextResponse(
                "The metrics take HTTP Basic with a user of this page.\n",
                401,
                {"www-authenticate": 'Basic realm="Bifocal", charset="UTF-8"'},
            )
        return PlainTextResponse(backend.metrics(), media_type=TEXT)

    app.add_api_route("/metrics", metrics, methods=["GET"])


def _basic(header: str) -> bytes:
    """`user:password` of an Authorization header; nothing where it is something else.

    Not FastAPI's own, which refuses all that is not ASCII.
    """
    kind, _, coded = header.partition(" ")
    if kind.lower() != "basic":
        return b""
    try:
        return base64.b64decode(coded.strip(), validate=True)
    except (binascii.Error, ValueError):
        return b""
