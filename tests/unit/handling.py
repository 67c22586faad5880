"""Events of the page, and what its handlers made of them."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr

from ui.handlers import Handlers
from ui.session import Attachment, Session

from .fakes import picture_file
from .pictures import RED

SETTINGS = ("", 0, 1, 256, 0, None, "stretch")


def event(**data: Any) -> Any:
    return SimpleNamespace(_data=data)


async def send(on: Handlers, session: Session, prompt: str) -> list[Any]:
    return [view async for view in on.send(session, prompt, "", *SETTINGS)]


def told(views: list[Any]) -> list[Any]:
    """What the browser's script was told."""
    return [json.loads(view["library"]) for view in views if "library" in view]


def unchanged(view: Any) -> bool:
    """Whether a handler changed nothing; an empty answer is a fault to Gradio."""
    return bool(view == {"message": gr.skip()})


async def attached(on: Handlers, session: Session, folder: Path) -> Attachment:
    session.draft.append(await on._measure(picture_file(folder, "red.png", RED), None))
    return session.draft[-1]
