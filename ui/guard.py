"""Faults of the web framework become one clear answer: nobody is shown a stack trace.

Gradio and FastAPI raise whatever a malformed call makes them stumble over. What comes from the
call itself is the caller's fault and is said so; the rest is ours, and the log has it in full.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Final

import fastapi
import gradio as gr
from fastapi.exceptions import RequestValidationError
from gradio.exceptions import InvalidPathError
from gradio.route_utils import FnIndexInferError
from pydantic import ValidationError
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from backend.errors import BifocalError, EngineError, InputError
from ui.disk import disk_full

log = logging.getLogger("bifocal")

CALLERS: Final[tuple[type[Exception], ...]] = (
    RequestValidationError, ValidationError, FnIndexInferError, InvalidPathError, LookupError,
    ValueError, TypeError, AttributeError, OSError,
)  # fmt: skip
"""What routes raise over a body, a header or a path that is not as they expect it."""
STARTED: Final = "response already started"
"""Starlette's words for a refusal that came too late for a status."""


def refusal(what: str = "call") -> InputError:
    """What a malformed call is answered."""
    return InputError(
        "bad_request",
        f"This {what} is not one that the app knows: see `/?view=api` for the endpoints and their "
        "arguments.",
    )


def fault() -> EngineError:
    """What whoever meets a fault of ours is told."""
    return EngineError(
        "Something went wrong inside Bifocal; its log says what. The same may work when tried "
        "again.",
        "internal_fault",
    )


class GuardedBlocks(gr.Blocks):  # type: ignore[misc]
    """Blocks whose events fail with a message only."""

    def validate_inputs(self, *arguments: Any, **named: Any) -> None:
        """As Gradio's; a wrong number of values is the caller's fault."""
        try:
            super().validate_inputs(*arguments, **named)
        except ValueError:
            raise _shown(refusal()) from None

    async def preprocess_data(self, *arguments: Any, **named: Any) -> Any:
        """As Gradio's; a value that its component cannot take is the caller's fault."""
        try:
            return await super().preprocess_data(*arguments, **named)
        except gr.Error as error:
            raise _quiet(error) from None
        except Exception as error:
            log.info("an event was refused (%s)", type(error).__name__)
            raise _shown(refusal()) from error

    async def process_api(self, *arguments: Any, **named: Any) -> Any:
        """As Gradio's; what a handler did not foresee is a fault of ours."""
        try:
            return await super().process_api(*arguments, **named)
        except gr.Error as error:
            raise _quiet(error) from None
        except Exception as error:
            log.exception("an event failed")
            raise _shown(fault()) from error


def _shown(error: BifocalError) -> gr.Error:
    return gr.Error(str(error), print_exception=False)


def _quiet(error: gr.Error) -> gr.Error:
    # Gradio's own refusals, as of a file that nobody uploaded, come with a stack trace in the log.
    error.print_exception = False
    return error


def answer_faults(app: fastapi.FastAPI) -> None:
    """In an application's routes: a malformed call gets status 400 and a message."""

    async def refuse(request: Request, error: Exception) -> JSONResponse:
        if full := disk_full(error):
            log.error("%s", full.message)
            return JSONResponse(full.as_json(), 507)
        log.info("%s %s was refused (%s)", request.method, request.url.path, type(error).__name__)
        return JSONResponse(refusal().as_json(), 400)

    for kind in CALLERS:
        app.add_exception_handler(kind, refuse)


class Guard:
    """Plain ASGI around everything: what still comes out of a route ends here."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer status 500 with a message, where nothing has been answered yet."""
        started = streams = False

        async def noting(message: Message) -> None:
            nonlocal started, streams
            if message["type"] == "http.response.start":
                started, kind = True, Headers(raw=message["headers"]).get("content-type", "")
                streams = kind.startswith("text/event-stream")
            await send(message)

        try:
            await self.app(scope, receive, noting)
        except Exception as error:
            if STARTED in str(error):
                log.info("%s ended early", scope.get("path", ""))
            else:
                log.exception("%s %s failed", scope.get("method", ""), scope.get("path", ""))
            if scope["type"] == "http" and not started:
                await JSONResponse(fault().as_json(), 500)(scope, receive, send)
            elif started:
                end = f"event: error\ndata: {json.dumps(str(refusal()))}\n\n" if streams else ""
                await send({"type": "http.response.body", "body": end.encode()})
