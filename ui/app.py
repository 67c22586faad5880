"""The web application: the page's layout, all of its wiring, and the routes beside it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastapi
import gradio as gr
from fastapi.responses import JSONResponse

from backend.settings import repository
from ui import components, render
from ui.api import add_endpoints
from ui.examples import Example, read_examples
from ui.handlers import Handlers
from ui.headers import SafeHeaders
from ui.session import Session
from ui.theme import bifocal_theme
from ui.thumbnails import file_thumbnail

if TYPE_CHECKING:
    from backend.service import Bifocal

ASSETS = repository() / "assets"
DAY = 24 * 60 * 60


def create_app(backend: Bifocal, examples: Path = ASSETS / "examples") -> fastapi.FastAPI:
    """The application to serve; nothing is started, and the backend may still be loading.

    `examples` is the folder of the bundled pictures.
    """
    app = fastapi.FastAPI(title="Bifocal", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/health", partial(_health, backend), methods=["GET"])
    app.add_middleware(SafeHeaders)
    users = [tuple(entry.split(":", 1)) for entry in backend.settings.auth]
    return gr.mount_gradio_app(
        app,
        create_page(backend, read_examples(examples)),
        path="/",
        auth=users or None,
        theme=bifocal_theme(),
        css_paths=[ASSETS / "style.css"],
        head=f"<script>{(ASSETS / 'page.js').read_text('utf-8')}</script>",
        max_file_size=f"{backend.settings.max_upload_mb}mb",
        show_error=True,
        ssr_mode=False,
        run_history=False,
        footer_links=["api"],
    )


def _health(backend: Bifocal) -> JSONResponse:
    health = backend.health()
    body = {"status": health.status} if backend.settings.auth else health.as_json()
    return JSONResponse(body, 200 if health.status in ("ready", "degraded") else 503)


def create_page(backend: Bifocal, examples: tuple[Example, ...]) -> gr.Blocks:
    """Layout first, wiring last."""
    logo = (ASSETS / "logo.svg").read_text("utf-8")
    cards = [
        {"src": file_thumbnail(e.path, 144), "title": e.title, "question": e.question}
        for e in examples
    ]
    plan = backend.plan
    with gr.Blocks(
        title="Bifocal", analytics_enabled=False, fill_width=True, delete_cache=(DAY // 24, DAY)
    ) as blocks:
        session = gr.State(Session())
        timer = gr.Timer(1.0)
        with gr.Row(elem_id="bf-top"):
            gr.HTML(
                render.header(plan.label, plan.target, plan.topology, logo),
                apply_default_css=False,
            )
            status = components.status(backend)
        with gr.Row(elem_id="bf-main"):
            with gr.Column(scale=7, min_width=0, elem_id="bf-talk"):
                chat = components.chat()
                with gr.Column(elem_id="bf-composer"):
                    stage = gr.HTML(apply_default_css=False)
                    message = gr.HTML(elem_id="bf-message", apply_default_css=False)
                    draft, files = components.images()
                    with gr.Row(elem_classes="bf-line"):
                        url = gr.Textbox(
                            label="Picture addresses", show_label=False, container=False,
                            placeholder="Picture address, https://…",
                            elem_id="bf-url", scale=1, min_width=0,
                        )  # fmt: skip
                        add_url = gr.Button("Add", elem_id="bf-add-url", scale=0, min_width=72)
                    with gr.Row(elem_classes="bf-line"):
                        prompt = gr.Textbox(
                            label="Your question", show_label=False, container=False,
                            placeholder="Ask about the pictures",
                            lines=1, max_lines=8, elem_id="bf-prompt", autofocus=True, scale=1,
                            min_width=0,
                        )  # fmt: skip
                        send = gr.Button(
                            "Send", variant="primary", elem_id="bf-send", scale=0, min_width=96
                        )
                        stop = gr.Button(
                            "Stop", variant="stop", elem_id="bf-stop", scale=0, min_width=96,
                            visible="hidden",
                        )  # fmt: skip
                    with gr.Row(elem_classes="bf-foot"):
                        gr.HTML(
                            "<p><kbd>Enter</kbd> sends, <kbd>Shift</kbd> <kbd>Enter</kbd> starts a"
                            " new line. Pictures may be pasted anywhere.</p>",
                            apply_default_css=False,
                        )
                        clear = gr.Button(
                            "Clear", elem_id="bf-clear", size="sm", scale=0, min_width=72
                        )
                shelf = gr.HTML(
                    render.examples(cards), elem_id="bf-examples",
                    js_on_load=components.ON_PICK, apply_default_css=False,
                )  # fmt: skip
                settings = components.settings(backend)
            with gr.Column(scale=4, min_width=0, elem_id="bf-side"):
                buckets, timeline = components.panels()
        page = components.Page(
            session, status, chat, stage, message, draft, files, url, add_url, prompt, send, stop,
            clear, shelf, settings, buckets, timeline, timer,
        )  # fmt: skip
        _wire(page, Handlers(backend, page, examples))
        add_endpoints(backend)
    return blocks


def _wire(page: components.Page, on: Handlers) -> None:
    """Every event of the page."""
    session = page.session
    composer = [page.message, page.draft, page.buckets]
    answer = [
        *composer, page.chat, page.stage, page.prompt, page.url, page.send, page.stop,
        page.timeline,
    ]  # fmt: skip
    quiet: dict[str, Any] = {
        "show_progress": "hidden", "concurrency_limit": None, "api_visibility": "private",
    }  # fmt: skip
    drawer = page.settings.inputs()

    page.files.upload(
        on.add_files, [session, page.files], [page.files, *composer],
        trigger_mode="multiple", **quiet,
    )  # fmt: skip
    gr.on(
        [page.add_url.click, page.url.submit], on.add_urls, [session, page.url],
        [page.url, *composer], trigger_mode="once", **quiet,
    )  # fmt: skip
    page.draft.remove(on.remove, session, composer, trigger_mode="multiple", **quiet)
    asked = gr.on(
        [page.send.click, page.prompt.submit], on.send,
        [session, page.prompt, page.url, *drawer], answer, trigger_mode="once", **quiet,
    )  # fmt: skip
    picked = page.examples.pick(
        on.pick, [session, *drawer], answer, trigger_mode="once", **quiet
    )
    for event in (asked, picked):
        event.failure(on.repair, session, answer, **quiet)
    page.stop.click(on.stop, session, None, trigger_mode="multiple", **quiet)
    page.clear.click(on.clear, session, answer, trigger_mode="multiple", **quiet)
    page.timer.tick(on.poll, session, [page.status, page.timer], queue=False, **quiet)
