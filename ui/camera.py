"""The camera button's wiring: it shows the camera and takes it away, and photos join the draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gradio as gr

if TYPE_CHECKING:
    from ui.components import Page
    from ui.handlers import Handlers


def wire_camera(page: Page, on: Handlers, composer: list[Any], quiet: dict[str, Any]) -> None:
    """Inside the current Blocks."""
    is_shown = gr.State(False)
    page.camera.click(_toggle, is_shown, [is_shown, page.camera, page.photo], queue=False, **quiet)
    page.photo.input(
        on.add_photo,
        [page.session, page.photo, page.settings.fit],
        [page.photo, page.files, *composer],
        trigger_mode="multiple",
        **quiet,
    )


def _toggle(was_shown: bool) -> tuple[bool, gr.Button, gr.Image]:
    # Taken away and not only hidden: else the camera would stay on.
    return (
        not was_shown,
        gr.Button("Camera" if was_shown else "Close camera"),
        gr.Image(value=None, visible=not was_shown),
    )
