"""The page's components, made but not wired; ids are the contract's test ids."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import gradio as gr

from ui import buckets, masthead, timeline
from ui.drawer import Drawer
from ui.uploads import uploads, webcam

if TYPE_CHECKING:
    from backend.service import Bifocal

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
{about}</div>
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


@dataclass(frozen=True, slots=True)
class Page:
    """Every component that a handler reads or changes."""

    session: gr.State
    status: gr.HTML
    library: gr.HTML
    chat: gr.Chatbot
    editing: gr.HTML
    stage: gr.HTML
    message: gr.HTML
    draft: gr.HTML
    files: gr.File
    camera: gr.Button
    photo: gr.Image
    url: gr.Textbox
    add_url: gr.Button
    prompt: gr.Textbox
    send: gr.Button
    stop: gr.Button
    clear: gr.Button
    examples: gr.HTML
    settings: Drawer
    buckets: gr.HTML
    timeline: gr.HTML
    timer: gr.Timer
    wakes: gr.HTML


def chat(about: str) -> gr.Chatbot:
    """The transcript; while it is empty, how this works and what there is to say of the model."""
    told = f'<p class="bf-about">{escape(about)}</p>\n' if about else ""
    return gr.Chatbot(
        elem_id="bf-chat",
        label="Conversation",
        show_label=False,
        placeholder=WELCOME.format(about=told),
        height="auto",
        sanitize_html=True,
        allow_tags=False,
        latex_delimiters=MATHS,
        layout="bubble",
        buttons=[],
    )


def images(script: str) -> tuple[gr.HTML, gr.File, gr.Button, gr.Image]:
    """What is about to be sent, where to drop more, and the camera; `script` moves and removes."""
    with gr.Column(elem_id="bf-images", min_width=0):
        draft = gr.HTML(js_on_load=script, elem_classes="bf-draft", apply_default_css=False)
        with gr.Row(elem_classes="bf-line"):
            files = uploads(
                label="Add pictures: choose, drop or paste",
                show_label=False,
                file_count="multiple",
                type="filepath",
                elem_classes="bf-drop",
                height=64,
            )
            camera = gr.Button("Camera", scale=0, min_width=96, elem_classes="bf-camera")
        photo = webcam()
    return draft, files, camera, photo


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
    stop = gr.Button("Stop", variant="stop", elem_id="bf-stop", scale=0, min_width=96)
    return prompt, send, stop


def foot() -> tuple[gr.HTML, gr.Button]:
    """What is happening now, or else how to use the keyboard; and Clear."""
    stage = gr.HTML(elem_id="bf-stage", apply_default_css=False)
    gr.HTML(HINT, elem_id="bf-hint", apply_default_css=False)
    return stage, gr.Button("Clear all", elem_id="bf-clear", size="sm", scale=0, min_width=84)


def panels() -> tuple[gr.HTML, gr.HTML]:
    """Buckets and timeline."""
    return (
        gr.HTML(buckets.panel([], 0), elem_id="bf-buckets", apply_default_css=False),
        gr.HTML(timeline.panel(None), elem_id="bf-timeline", apply_default_css=False),
    )


def status(backend: Bifocal) -> gr.HTML:
    """The status line as it is when the app starts; polling keeps it up to date."""
    return gr.HTML(masthead.status(backend.health()), elem_id="bf-status", apply_default_css=False)
