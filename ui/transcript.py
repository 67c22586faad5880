"""The conversation as the chat's messages, purely; everything from outside is escaped here.

Beneath each question and answer stand our own buttons. Gradio's would copy and edit the text that
is shown, in which markup has been escaped; and it has none to delete a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from ui.markdown import plain_markdown
from ui.render import picture
from ui.session import Attachment, Exchange

ENDS = {
    "length": "Cut short at {} tokens. Raise “Max tokens” in the settings for a longer answer.",
    "abort": "Stopped.",
}
NO_ANSWER = "There is no answer: it was interrupted. Regenerate asks again."
LOST = (
    "{} no longer on the server, so a follow-up question cannot be asked. Add the same picture"
    " again and it takes its old place; or delete this turn."
)

ICONS = {
    "copy": "M9 9h10v11H9zM15 9V4H5v11h4",
    "again": "M19 12a7 7 0 1 1-2.2-5.1M19 3v5h-5",
    "edit": "M4 20l1-4L16 5l3 3L8 19zM14 7l3 3",
    "delete": "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
}


def transcript(exchanges: Iterable[Exchange], under_way: bool = False) -> list[dict[str, Any]]:
    """The chat's messages: a question and an answer for each exchange.

    While an answer is `under_way` the last exchange has none yet. What can be done to earlier ones
    is then hidden by the style sheet and not left out: to make it anew costs a browser some
    milliseconds for each of them, just before the first word.
    """
    messages: list[dict[str, Any]] = []
    exchanges = list(exchanges)
    image = 1
    for number, exchange in enumerate(exchanges, 1):
        is_last = number == len(exchanges)
        is_asked = is_last and under_way
        messages.append(_question(exchange, number, image, is_asked))
        image += len(exchange.attachments)
        if not is_asked:
            messages.append(_answer(exchange, number, is_last))
    return messages


def live(text: str) -> list[dict[str, Any]]:
    """The last message while its answer is under way."""
    return [_message("assistant", _text(plain_markdown(text) or "…"))]


def _question(exchange: Exchange, number: int, image: int, is_asked: bool) -> dict[str, Any]:
    figures = "".join(
        f'<span class="bf-shot">{picture(item, image + index)}</span>'
        for index, item in enumerate(exchange.attachments)
    )
    shots = [_html(f'<div class="bf-shots">{figures}</div>')] if figures else []
    lost = [image + index for index, item in enumerate(exchange.attachments) if item.gone]
    foot = _lost(lost) if lost else ""
    if not is_asked:
        foot += _actions(_button("edit", number, "Edit", f"Edit question {number}"))
    feet = [_html(foot)] if foot else []
    return _message("user", *shots, _text(plain_markdown(exchange.prompt)), *feet)


def _answer(exchange: Exchange, number: int, is_last: bool) -> dict[str, Any]:
    result = exchange.result
    text = result.text if result else ""
    buttons = []
    if text:
        copied = f' data-text="{escape(text)}"'
        buttons.append(_button("copy", number, "Copy", f"Copy answer {number}", copied))
    if is_last:
        buttons.append(_button("again", number, "Regenerate", f"Regenerate answer {number}"))
    buttons.append(_button("delete", number, "Delete", f"Delete question {number} and its answer"))
    foot = f'<div class="bf-ends">{_notes(exchange)}</div>{_actions(*buttons)}'
    return _message("assistant", _text(plain_markdown(text)), _html(foot))


def _notes(exchange: Exchange) -> str:
    """What there is to say about an answer beside its text, such as that it was cut short."""
    result = exchange.result
    if result is None:
        return f'<p class="bf-cut">{NO_ANSWER}</p>'
    end = ENDS.get(result.finish_reason or "", "").format(result.usage.completion_tokens)
    lines = [*result.notes, *([end] if end else [])]
    return "".join(f'<p class="bf-cut">{escape(line)}</p>' for line in lines)


def _lost(numbers: list[int]) -> str:
    names = in_a_row(list(map(str, numbers)))
    what = f"Image {names} is" if len(numbers) == 1 else f"Images {names} are"
    return f'<p class="bf-lost">{LOST.format(what)}</p>'


def _actions(*buttons: str) -> str:
    return f'<div class="bf-acts">{"".join(buttons)}</div>' if buttons else ""


def _button(act: str, number: int, title: str, label: str, more: str = "") -> str:
    return (
        f'<button type="button" data-act="{act}" data-turn="{number - 1}" title="{title}"'
        f' aria-label="{label}"{more}><svg viewBox="0 0 24 24" aria-hidden="true">'
        f'<path d="{ICONS[act]}"/></svg></button>'
    )


def _message(role: str, *parts: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(parts)}


def _text(text: str) -> dict[str, Any]:
    # A typed part, because Gradio re-indents bare strings.
    return {"type": "text", "text": text}


def _html(markup: str) -> dict[str, Any]:
    # A part of its own, because Gradio labels a message with its text, which must not be markup.
    return {
        "type": "component",
        "component": "html",
        "value": markup,
        "constructor_args": {},
        "props": {"html_template": "${value}", "apply_default_css": False},
    }


def in_a_row(names: Sequence[str]) -> str:
    """Names as a sentence has them."""
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def lost_images(exchanges: Iterable[Exchange]) -> list[tuple[int, Attachment]]:
    """The images that the server no longer has, by their number in the conversation."""
    items = [item for exchange in exchanges for item in exchange.attachments]
    return [(number, item) for number, item in enumerate(items, 1) if item.gone]
