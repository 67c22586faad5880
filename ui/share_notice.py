"""The line of the page that shows the public link, drawn while it is being waited for."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui import masthead
from ui.sharing import Sharing

POLL_S = 1.0


def add_share_notice(blocks: gr.Blocks, sharing: Sharing) -> None:
    """Component and wiring, inside the current Blocks."""

    def shown() -> str:
        return masthead.link(sharing.link.address, sharing.link.problem)

    def poll() -> tuple[str, Any]:
        return shown(), gr.Timer(POLL_S, active=not sharing.settled)

    notice = gr.HTML(shown(), elem_id="bf-share", apply_default_css=False)
    timer = gr.Timer(POLL_S)
    for event in (blocks.load, timer.tick):
        event(
            poll, None, [notice, timer], queue=False, show_progress="hidden",
            api_visibility="private",
        )  # fmt: skip
