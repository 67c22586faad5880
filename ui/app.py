"""The web application: the page's layout, all of its wiring, and the routes beside it."""

from __future__ import annotations

import base64
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastapi
import gradio as gr
from fastapi.responses import JSONResponse
from starlette.routing import Mount

from backend.settings import repository
from ui import components, login, masthead, render
from ui.api import add_endpoints
from ui.calm import calm
from ui.camera import wire_camera
from ui.conversation_bar import conversation_bar
from ui.disk import DAY
from ui.drawer import add_drawer
from ui.examples import Example, read_examples
from ui.guard import Guard, GuardedBlocks, answer_faults
from ui.handlers import Handlers
from ui.headers import SafeHeaders
from ui.listeners import Listeners, mind_listeners
from ui.login_brake import LoginBrake
from ui.metrics_route import add_metrics
from ui.session import Session
from ui.share_notice import add_share_notice
from ui.theme import bifocal_theme
from ui.thumbnails import file_thumbnail

if TYPE_CHECKING:
    from backend.service import Bifocal
    from ui.sharing import Sharing

ASSETS = repository() / "assets"
SCRIPTS = ("page.js", "aloud.js", "camera.js")


def create_app(
    backend: Bifocal, examples: Path = ASSETS / "examples", sharing: Sharing | None = None
) -> fastapi.FastAPI:
    """The application to serve; nothing is started, and the backend may still be loading.

    `examples` is the folder of the bundled pictures; `sharing` knows the public link, if any.
    """
    app = fastapi.FastAPI(title="Bifocal", docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/health", partial(_health, backend), methods=["GET"])
    add_metrics(app, backend)
    app.add_middleware(LoginBrake)
    app.add_middleware(SafeHeaders)
    users = [tuple(entry.split(":", 1)) for entry in backend.settings.auth]
    listeners = Listeners()
    page = create_page(backend, read_examples(examples), listeners, sharing)
    gr.mount_gradio_app(
        app,
        page,
        path="/",
        auth=users or None,
        auth_message=login.message(backend.settings, (ASSETS / "login.css").read_text("utf-8")),
        theme=bifocal_theme(),
        css_paths=[ASSETS / "style.css"],
        head=_head(),
        # Twice the intake's limit: what is a little too large is refused in place, in our words.
        max_file_size=f"{2 * backend.settings.max_upload_mb}mb",
        show_error=True,
        ssr_mode=False,
        run_history=False,
        footer_links=["api"],
    )
    for route in app.routes:
        if isinstance(route, Mount) and isinstance(route.app, fastapi.FastAPI):
            answer_faults(route.app)
    answer_faults(app)
    mind_listeners(app, page, listeners)
    app.add_middleware(Guard)
    # Gradio takes only uploaded files as input once `launch` was called. It never is for a mounted
    # page, which would then read any file of this machine that a request names.
    page.has_launched = True
    return app


def _head() -> str:
    icon = base64.b64encode((ASSETS / "logo.svg").read_bytes()).decode("ascii")
    scripts = [(ASSETS / name).read_text("utf-8") for name in SCRIPTS]
    return (
        f'<link rel="icon" type="image/svg+xml" href="data:image/svg+xml;base64,{icon}">'
        f"<script>{'</script><script>'.join(scripts)}</script>"
    )


def _health(backend: Bifocal) -> JSONResponse:
    health = backend.health()
    body = {"status": health.status} if backend.settings.auth else health.as_json()
    return JSONResponse(body, 200 if health.status in ("ready", "degraded") else 503)


def create_page(
    backend: Bifocal,
    examples: tuple[Example, ...],
    listeners: Listeners,
    sharing: Sharing | None = None,
) -> gr.Blocks:
    """Layout first, wiring last."""
    logo = (ASSETS / "logo.svg").read_text("utf-8")
    cards = [(example, file_thumbnail(example.path, 144)) for example in examples]
    plan = backend.plan
    with GuardedBlocks(
        title="Bifocal", analytics_enabled=False, fill_width=True, delete_cache=(DAY // 24, DAY)
    ) as blocks:
        session = gr.State(Session())
        timer, wakes = gr.Timer(1.0), gr.HTML(visible="hidden")
        with gr.Row(elem_id="bf-top"):
            gr.HTML(
                masthead.header(plan, logo),
                apply_default_css=False,
            )
            status = components.status(backend)
        if sharing:
            add_share_notice(blocks, sharing)
        with gr.Row(elem_id="bf-main"):
            with gr.Column(scale=7, min_width=0, elem_id="bf-talk"):
                with gr.Column(elem_id="bf-desk"):
                    library = conversation_bar((ASSETS / "conversations.js").read_text("utf-8"))
                    chat = components.chat(plan.spec.about)
                    with gr.Column(elem_id="bf-composer"):
                        message = gr.HTML(elem_id="bf-message", apply_default_css=False)
                        editing = gr.HTML(elem_id="bf-editing", apply_default_css=False)
                        draft, files, camera, photo = components.images(
                            (ASSETS / "tray.js").read_text("utf-8")
                        )
                        with gr.Row(elem_classes="bf-line"):
                            url, add_url = components.address()
                        with gr.Row(elem_classes="bf-line"):
                            prompt, send, stop = components.question()
                        with gr.Row(elem_classes="bf-foot"):
                            stage, clear = components.foot()
                shelf = gr.HTML(
                    render.examples(cards), elem_id="bf-examples",
                    js_on_load=components.ON_PICK, apply_default_css=False,
                )  # fmt: skip
                settings = add_drawer(blocks, backend)
            with gr.Column(scale=4, min_width=0, elem_id="bf-side"):
                buckets, timeline = components.panels()
        page = components.Page(
            session, status, library, chat, editing, stage, message, draft, files, camera, photo,
            url, add_url, prompt, send, stop, clear, shelf, settings, buckets, timeline, timer,
            wakes,
        )  # fmt: skip
        _wire(blocks, page, Handlers(backend, page, examples, listeners))
        add_endpoints(backend)
        blocks.queue(api_open=False, default_concurrency_limit=None)
        calm(blocks, backend.settings.max_queue)
    return blocks


def _wire(blocks: gr.Blocks, page: components.Page, on: Handlers) -> None:
    """Every event of the page."""
    session = page.session
    composer = [page.message, page.editing, page.draft, page.buckets, page.chat]
    answer = [
        *composer, page.library, page.stage, page.prompt, page.url, page.timeline, page.status,
    ]  # fmt: skip
    quiet: dict[str, Any] = {
        "show_progress": "hidden", "concurrency_limit": None, "api_visibility": "private",
    }  # fmt: skip
    drawer = page.settings.inputs()

    page.files.upload(
        on.add_files, [session, page.files, page.settings.fit], [page.files, *composer],
        trigger_mode="multiple", **quiet,
    )  # fmt: skip
    gr.on(
        [page.add_url.click, page.url.submit], on.add_urls,
        [session, page.url, page.settings.fit], [page.url, *composer], trigger_mode="once", **quiet,
    )  # fmt: skip
    page.settings.fit.change(on.refit, [session, page.settings.fit], composer, **quiet)
    page.draft.remove(on.remove, session, composer, trigger_mode="multiple", **quiet)
    page.draft.move(on.move, session, composer, trigger_mode="multiple", **quiet)
    wire_camera(page, on, composer, quiet)
    asked = gr.on(
        [page.send.click, page.prompt.submit], on.send,
        [session, page.prompt, page.url, *drawer], answer, trigger_mode="once", **quiet,
    )  # fmt: skip
    picked = page.examples.pick(on.pick, [session, *drawer], answer, trigger_mode="once", **quiet)
    for event in (asked, picked):
        event.failure(on.repair, session, answer, **quiet)
    page.stop.click(on.stop, [session, page.prompt], None, trigger_mode="multiple", **quiet)
    _wire_conversations(page, on, drawer, answer, quiet)
    for poll in (blocks.load, page.timer.tick):
        poll(
            on.poll, [session, page.status], [page.status, page.timer, page.wakes],
            queue=False, **quiet,
        )  # fmt: skip
    page.wakes.change(on.wake, None, None, **quiet)


def _wire_conversations(
    page: components.Page, handlers: Handlers, drawer: list[Any], answer: list[Any], quiet: Any
) -> None:
    """The events of the conversation bar, and of the buttons at each turn, which it passes on."""
    on, bar, session = handlers.conversations, page.library, page.session
    again = bar.again(on.again, [session, *drawer], answer, trigger_mode="once", **quiet)
    again.failure(handlers.repair, session, answer, **quiet)
    bar.edit(on.edit, [session, page.prompt], answer, trigger_mode="multiple", **quiet)
    page.draft.change(on.note, session, page.library, trigger_mode="multiple", **quiet)
    bar.write(on.write, session, [page.library, page.message], **quiet)
    for event, handler in (
        (bar.begin, on.begin), (bar.take_in, on.take_in),
        (bar.delete, on.delete), (bar.undelete, on.undelete), (bar.cancel, on.cancel),
    ):  # fmt: skip
        event(handler, session, answer, trigger_mode="multiple", **quiet)
    for event, with_typed in (
        (bar.open, on.open), (bar.forget, on.forget), (page.clear.click, on.forget),
    ):  # fmt: skip
        event(with_typed, [session, page.prompt], answer, trigger_mode="multiple", **quiet)
