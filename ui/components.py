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
<p class="bf-lead">One engine sees. One engine speaks.</p>
<ol>
<li>Add a picture: it is fitted into one of a few <b>compiled sizes</b>.</li>
<li>The <b class="bf-a">vision encoder</b> turns it into visual tokens.</li>
<li>The <b class="bf-b">language decoder</b> reads them beside your words, and answers.</li>
</ol>
</div>
"""

HINT = (
    "<p><kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a new line."
    " Pictures may be pasted anywhere.</p>"
)

MATHS = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "\\(", "right": "\\)", "display": False},
    {"left": "\\[", "right": "\\]", "display": True},
]


def uploads(**properties: Any) -> gr.File:
    """A field for files that were uploaded, and for nothing else.

    Given an address, Gradio itself would download it, past the intake's limits.
    """
    field = gr.File(**properties)
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
    return field


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
        files = uploads(
            label="Add pictures: choose, drop or paste",
            show_label=False,
            file_count="multiple",
            type="filepath",
            elem_classes="bf-drop",
            height=64,
        )
    return draft, files


def address() -> tuple[gr.Textbox, gr.Button]:
    """One address of a picture or several, and the button that fetches them."""
    url = gr.Textbox(
        label="Picture addresses", show_label=False, container=False, elem_id="bf-url",
        placeholder="Picture address, https://…", scale=1, min_width=0,
    )  # fmt: skip
    return url, gr.Button("Add", elem_id="bf-add-url", scale=0, min_width=72)


def question() -> tuple[gr.Textbox, gr.Button, gr.Button]:
    """The prompt box with Send, whose place Stop takes while an answer is under way."""
    prompt = gr.Textbox(
        label="Your question", show_label=False, container=False, elem_id="bf-prompt",
        placeholder="Ask about the pictures", lines=1, max_lines=8, autofocus=True, scale=1,
        min_width=0,
    )  # fmt: skip
    send = gr.Button("Send", variant="primary", elem_id="bf-send", scale=0, min_width=96)
    stop = gr.Button(
        "Stop", variant="stop", elem_id="bf-stop", scale=0, min_width=96, visible="hidden"
    )
    return prompt, send, stop


def foot() -> tuple[gr.HTML, gr.Button]:
    """What is happening now, or else how to use the keyboard; and Clear."""
    stage = gr.HTML(elem_id="bf-stage", apply_default_css=False)
    gr.HTML(HINT, elem_id="bf-hint", apply_default_css=False)
    return stage, gr.Button("Clear", elem_id="bf-clear", size="sm", scale=0, min_width=72)


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
        gr.HTML(buckets.panel([], 0), elem_id="bf-buckets", apply_default_css=False),
        gr.HTML(timeline.panel(None), elem_id="bf-timeline", apply_default_css=False),
    )


def status(backend: Bifocal) -> gr.HTML:
    """The status line as it is when the app starts; polling keeps it up to date."""
    return gr.HTML(render.status(backend.health()), elem_id="bf-status", apply_default_css=False)
