"""The settings drawer: its fields, what the browser remembers of them, and its wiring."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

import gradio as gr

from backend.errors import InputError
from backend.types import ChatRequest, Turn
from ui import inputs, preferences, render
from ui.preferences import Preferences

if TYPE_CHECKING:
    from backend.service import Bifocal

STORAGE_KEY = "bifocal-settings"
STORAGE_SECRET = "bifocal"
"""Gradio makes a new random key and secret at each start unless both are given. The secret is sent
to every page, so it hides nothing; what comes back is not trusted."""

REMEMBER = "(...values) => [values]"


@dataclass(frozen=True, slots=True)
class Drawer:
    """The fields, in the order in which handlers take them; that of Preferences."""

    system_prompt: gr.Textbox
    temperature: gr.Slider
    top_p: gr.Slider
    max_tokens: gr.Number
    seed: gr.Number
    method: gr.Radio
    fit: gr.Radio

    def inputs(self) -> list[Any]:
        """As a handler's inputs or outputs."""
        return [getattr(self, field.name) for field in fields(self)]


def add_drawer(blocks: gr.Blocks, backend: Bifocal) -> Drawer:
    """The drawer, its memory and the button that sets all back; every field says what it does."""
    plan = backend.plan
    defaults = Preferences.defaults(plan)
    with gr.Accordion("Settings", open=False, elem_id="bf-settings"):
        drawer = _fields(defaults, plan.ctx_len)
        wrong = gr.HTML(elem_id="bf-settings-problem", apply_default_css=False)
        with gr.Row(elem_classes="bf-foot"):
            gr.HTML(
                '<p class="bf-empty">Remembered in this browser, for every conversation.</p>',
                apply_default_css=False,
            )
            reset = gr.Button("Reset to defaults", size="sm", scale=0, min_width=150)
    memory = gr.BrowserState(None, storage_key=STORAGE_KEY, secret=STORAGE_SECRET)
    quiet: dict[str, Any] = {"show_progress": "hidden", "api_visibility": "private"}
    every = drawer.inputs()
    # In the browser alone: a slider that is dragged would else ask the server at every step.
    gr.on([field.change for field in every], None, every, memory, js=REMEMBER, **quiet)
    blocks.load(
        lambda stored: preferences.read(stored, plan).values(), memory, every, queue=False, **quiet
    )
    check = partial(problem, backend)
    gr.on(
        [drawer.max_tokens.blur, drawer.seed.blur, drawer.max_tokens.submit, drawer.seed.submit],
        check, every, wrong, queue=False, **quiet,
    )  # fmt: skip
    reset.click(lambda: [*defaults.values(), ""], None, [*every, wrong], queue=False, **quiet)
    return drawer


def problem(backend: Bifocal, *values: Any) -> str:
    """What is wrong with the settings, told before a question is asked with them."""
    try:
        options = inputs.read_options(*values)
        backend.check(ChatRequest((Turn("user", "?"),), options.sampling))
    except InputError as error:
        return render.problem(error.message)
    return ""


def _fields(defaults: Preferences, ctx_len: int) -> Drawer:
    system = gr.Textbox(
        value=defaults.system_prompt, label="System prompt", lines=2, max_lines=6,
        max_length=preferences.LONGEST_PROMPT,
        info="Instructions that come before the whole conversation. Empty for none.",
    )  # fmt: skip
    with gr.Row(equal_height=True):
        temperature = gr.Slider(
            0, 2, value=defaults.temperature, step=0.05, label="Temperature",
            info="0 always takes the likeliest word; higher is more varied.",
        )  # fmt: skip
        top_p = gr.Slider(
            0.01, 1, value=defaults.top_p, step=0.01, label="Top-p",
            info="Only the likeliest words that together reach this share are drawn from.",
        )  # fmt: skip
    with gr.Row(equal_height=True):
        tokens = gr.Number(
            value=defaults.max_tokens, label="Max tokens", min_width=120,
            info=f"The answer is cut short after this many; at most {ctx_len}.",
        )  # fmt: skip
        seed = gr.Number(
            value=defaults.seed, label="Seed", min_width=120,
            info="The same seed draws the same answer; empty draws anew.",
        )  # fmt: skip
    with gr.Row(equal_height=True):
        method = gr.Radio(
            ["chat", "generate"], value=defaults.method, label="Method", min_width=160,
            info="Chat sends the conversation through the model's chat template; generate sends"
            " the last question alone, in the model's own prompt.",
        )  # fmt: skip
        fit = gr.Radio(
            ["stretch", "pad"], value=defaults.fit, label="Fit", min_width=160,
            info="Stretch a picture into its bucket, or pad it and keep its shape.",
        )  # fmt: skip
    return Drawer(system, temperature, top_p, tokens, seed, method, fit)
