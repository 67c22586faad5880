"""Fields for pictures that were uploaded, and for nothing else.

Given an address, Gradio itself would download it, and it would open a photo itself; both past the
intake's limits.
"""

from __future__ import annotations

from typing import Any

import gradio as gr


def uploads(**properties: Any) -> gr.File:
    """One file or several."""
    field = gr.File(**properties)
    _only_uploaded(field)
    return field


def webcam() -> gr.Image:
    """A camera whose photo reaches a handler as the path of an untouched file; hidden at first."""
    field = gr.Image(
        label="Camera", sources=["webcam"], type="filepath", visible=False, buttons=[],
        elem_id="bf-photo", height=280, webcam_options=gr.WebcamOptions(mirror=False),
    )  # fmt: skip
    _only_uploaded(field)
    # Gradio's own would decode the picture to write it anew.
    field.preprocess = lambda photo: photo.path if photo else None
    return field


def _only_uploaded(field: Any) -> None:
    move = field.async_move_resource_to_block_cache

    async def move_if_uploaded(given: Any) -> str | None:
        if str(given).startswith(("http://", "https://")):
            raise gr.Error(
                "bad_request: the address of a picture goes into image_urls", print_exception=False
            )
        moved: str | None = await move(given)
        return moved

    # On the instance: Gradio writes a stub file beside every module that subclasses a component.
    field.async_move_resource_to_block_cache = move_if_uploaded
