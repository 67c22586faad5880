"""The page's components, made but not wired; ids are the contract's test ids."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.types import Sampling
from ui import buckets, render, timeline

if TYPE_CHECKING:
    from backend.service import Bifocal

ON_REMOVE = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-remove]');
  if (button) trigger('remove', {index: Number(button.dataset.remove)});
});
"""

ON_PICK = """
element.addEventListener('click', (event) => {
  const button = event.target.closest('[data-example]');
  if (button) trigger('pick', {index: Number(button.dataset.example)});
});
"""

WELCOME = """
<div class="bf-welcome">
<p class="bf-lead">Show it a picture, ask a question.</p>
<ol>
<li>A picture is fitted into one of a few <b>compiled sizes</b>.</li>
<li>The <b class="bf-a">vision encoder</b> turns it into visual tokens.</li>
<li>The <b class="bf-b">language decoder</b> reads them beside your words, and answers.</li>
</ol>
</div>
"""

MATHS = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "\\(", "right": "\\)", "display": False},
    {"left": "\\[", "right": "\\]", "display": True},
]

from gradio.events import Dependency

class UploadedFile(gr.File):
    """A file that was uploaded; an address in its place would pass by the intake's own checks."""

    def get_block_name(self) -> str:
        """The front end knows it as a file."""
        return "file"

    async def async_move_resource_to_block_cache(self, url_or_file_path: Any) -> str | None:
        """Refuse addresses; leave files to Gradio."""
        if str(url_or_file_path).startswith(("http://", "https://")):
            raise gr.Error(
                "bad_request: addresses of pictures go into image_urls", print_exception=False
            )
        moved: str | None = await super().async_move_resource_to_block_cache(url_or_file_path)
        return moved
    from typing import Callable, Literal, Sequence, Any, TYPE_CHECKING
    from gradio.blocks import Block
    if TYPE_CHECKING:
        from gradio.components import Timer
        from gradio.components.base import Component


@dataclass(frozen=True, slots=True)
class Settings:
    """The drawer's fields, in the order in which handlers take them."""

    system_prompt: gr.Textbox
    temperature: gr.Slider
    top_p: gr.Slider
    max_tokens: gr.Number
    seed: gr.Number
    fit: gr.Radio

    def inputs(self) -> list[Any]:
        """As a handler's inputs."""
        return [getattr(self, field.name) for field in fields(self)]


@dataclass(frozen=True, slots=True)
class Page:
    """Every component that a handler reads or changes."""

    session: gr.State
    status: gr.HTML
    chat: gr.Chatbot
    stage: gr.HTML
    message: gr.HTML
    draft: gr.HTML
    files: gr.File
    url: gr.Textbox
    add_url: gr.Button
    prompt: gr.Textbox
    send: gr.Button
    stop: gr.Button
    clear: gr.Button
    examples: gr.HTML
    settings: Settings
    buckets: gr.HTML
    timeline: gr.HTML
    timer: gr.Timer


def chat() -> gr.Chatbot:
    """The transcript."""
    return gr.Chatbot(
        elem_id="bf-chat",
        label="Conversation",
        show_label=False,
        placeholder=WELCOME,
        height="auto",
        sanitize_html=True,
        allow_tags=False,
        latex_delimiters=MATHS,
        layout="bubble",
        buttons=["copy"],
        group_consecutive_messages=False,
    )


def images() -> tuple[gr.HTML, gr.File]:
    """What is about to be sent, and where to drop more."""
    with gr.Column(elem_id="bf-images", min_width=0):
        draft = gr.HTML(js_on_load=ON_REMOVE, elem_classes="bf-draft", apply_default_css=False)
        files = UploadedFile(
            label="Add pictures: choose, drop or paste",
            show_label=False,
            file_count="multiple",
            type="filepath",
            elem_classes="bf-drop",
            height=64,
        )
    return draft, files


def settings(backend: Bifocal) -> Settings:
    """The drawer; every field says in one line what it does."""
    sampling = Sampling()
    with gr.Accordion("Settings", open=False, elem_id="bf-settings"):
        system = gr.Textbox(
            label="System prompt", lines=2, max_lines=6,
            info="Instructions that come before the whole conversation. Empty for none.",
        )  # fmt: skip
        with gr.Row(equal_height=True):
            temperature = gr.Slider(
                0, 2, value=sampling.temperature, step=0.05, label="Temperature",
                info="0 always takes the likeliest word; higher is more varied.",
            )  # fmt: skip
            top_p = gr.Slider(
                0, 1, value=sampling.top_p, step=0.01, label="Top-p",
                info="Only the likeliest words that together reach this share are drawn from.",
            )  # fmt: skip
        with gr.Row(equal_height=True):
            tokens = gr.Number(
                value=sampling.max_tokens, label="Max tokens", min_width=120,
                info="The answer is cut short after this many.",
            )  # fmt: skip
            seed = gr.Number(
                value=sampling.seed, label="Seed", min_width=120,
                info="The same seed draws the same answer; empty draws anew.",
            )  # fmt: skip
            fit = gr.Radio(
                ["stretch", "pad"], value=backend.plan.fit, label="Fit", min_width=160,
                info="Stretch a picture into its bucket, or pad it and keep its shape.",
            )  # fmt: skip
    return Settings(system, temperature, top_p, tokens, seed, fit)


def panels() -> tuple[gr.HTML, gr.HTML]:
    """Buckets and timeline."""
    return (
        gr.HTML(buckets.panel([]), elem_id="bf-buckets", apply_default_css=False),
        gr.HTML(timeline.panel(None), elem_id="bf-timeline", apply_default_css=False),
    )


def status(backend: Bifocal) -> gr.HTML:
    """The status line, up to date whenever the page is opened."""
    return gr.HTML(
        lambda: render.status(backend.health()), elem_id="bf-status", apply_default_css=False
    )