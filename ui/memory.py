"""Keeping conversations: on the server's shelf, and as messages to the script that stores them.

The browser's own storage is the script's (`assets/conversations.js`). What it is told is the value
of one component: what to keep, which conversation is shown, what to forget, what to save as a file.
"""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import gradio as gr

from ui.components import Page
from ui.record import as_record, title_of
from ui.session import Session
from ui.shelf import Shelf

if TYPE_CHECKING:
    from backend.plan import Plan


class Memory:
    """One for all visitors."""

    def __init__(self, page: Page, plan: Plan) -> None:
        self._page = page
        self._plan = plan
        self._numbers = itertools.count(1)
        self.shelf = Shelf()

    def keep(self, session: Session, title: str = "", **more: Any) -> dict[Any, Any]:
        """Keep the conversation as it now is, and say that it is the one that is shown.

        `title` names it for good; else it is called after its first question.
        """
        if not session.exchanges:
            return self.tell(forget=session.id, current="", **more)
        return self.tell(keep=self.record(session), title=title, current=session.id, **more)

    def record(self, session: Session) -> Any:
        """What the browser keeps; the shelf has the rest."""
        self.put(session)
        title = title_of(session.exchanges)
        return as_record(session.id, title, self._plan.label, session.exchanges)

    def put(self, session: Session) -> None:
        """On the shelf."""
        self.shelf.put(session.id, session.exchanges, session.waiting)

    def note(self, session: Session) -> dict[Any, Any]:
        """Keep the images that wait to be sent, for a page that is loaded again."""
        if not session.waiting and not session.id:
            return {self._page.library: gr.skip()}
        session.name_it()
        if session.exchanges:
            # Whole, as of two messages that come at one moment the script sees the last.
            return self.keep(session)
        self.put(session)
        return self.tell(current=session.id)

    def tell(self, **message: Any) -> dict[Any, Any]:
        """A message to the script. Two that are the same are told apart by their number."""
        text = json.dumps({"number": next(self._numbers), **message})
        # It is the value of an HTML component, and Gradio warns of scripts there.
        return {self._page.library: text.replace("<", "\\u003c")}
