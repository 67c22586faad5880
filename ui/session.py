"""What the page remembers of one browser tab, from its first image to its last answer.

One `Session` lives in a `gr.State`. It is changed in place, never replaced, so that two events of
the same tab (an upload that is still being measured, and a second one) cannot undo each other.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backend.placement import PlacedImage
from backend.types import ImageInput, Result, Turn

if TYPE_CHECKING:
    from ui.stream import Progress, Run


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image in the page: as it was given, where it was placed, and a thumbnail (data URI).

    `gone` means that the server has the picture no longer, or never had it.
    """

    image: ImageInput
    placed: PlacedImage
    thumbnail: str
    gone: bool = False

    def checked(self) -> Attachment:
        """The same, `gone` if its file has been deleted; the server keeps uploads for a day."""
        if self.gone or self.image.origin == "url" or Path(self.image.location).is_file():
            return self
        return replace(self, gone=True)


@dataclass(frozen=True, slots=True)
class Exchange:
    """A question with its images, and its answer as far as it has come."""

    prompt: str
    attachments: tuple[Attachment, ...] = ()
    result: Result | None = None

    @property
    def user_turn(self) -> Turn:
        """The question as the backend takes it."""
        return Turn("user", self.prompt, tuple(item.image for item in self.attachments))

    def checked(self) -> Exchange:
        """The same, its images checked."""
        return replace(self, attachments=tuple(item.checked() for item in self.attachments))


class Session:
    """The conversation, the images waiting to be sent, and the answer in flight, if any.

    `place` is where in the conversation the next question goes: at its end, or while an earlier
    question is being edited, there. `answered` counts the answers that came to their end before
    the person's eyes. Not a dataclass: Gradio would turn one into a dictionary.
    """

    def __init__(self) -> None:
        # Not a fresh one here: Gradio copies one session for every visitor.
        self.id = ""
        self.exchanges: list[Exchange] = []
        self.draft: list[Attachment] = []
        self.editing: int | None = None
        self.restored = self.aside = False
        self.run: Run | None = None
        self.progress: Progress | None = None
        self.typed = ""
        self.unsent = ""
        self.answered = 0
        self.panel_shown, self.pace = "", 0.0
        self._before: list[Exchange] = []
        self._edited: int | None = None
        self._deleted: tuple[int, Exchange] | None = None
        self._set_aside: list[Attachment] = []
        self._cleared: tuple[str, list[Attachment], str] = "", [], ""

    @property
    def place(self) -> int:
        """The index that the next question will have."""
        return len(self.exchanges) if self.editing is None else self.editing

    def images(self) -> list[Attachment]:
        """Every image that the next question will see in its order, those not yet sent last."""
        return [a for e in self.exchanges[: self.place] for a in e.attachments] + self.draft

    def attach(self, item: Attachment) -> None:
        """A picture that was given: it takes the place of the same one where that was lost, and
        the transcript then has to be drawn anew; else it joins the draft.
        """
        self.restored = False
        lost = [i.gone and i.placed.sha256 == item.placed.sha256 for i in self.draft]
        if any(lost):
            self.draft[lost.index(True)] = item
            self.restored = True
        for index, exchange in enumerate(self.exchanges):
            found = tuple(
                item if old.gone and old.placed.sha256 == item.placed.sha256 else old
                for old in exchange.attachments
            )
            if found != exchange.attachments:
                self.exchanges[index] = replace(exchange, attachments=found)
                self.restored = True
        if not self.restored:
            self.draft.append(item)

    def swap(self, old: Attachment, new: Attachment) -> None:
        """Replace an image wherever it still is."""
        self.draft = [new if item is old else item for item in self.draft]
        self._set_aside = [new if item is old else item for item in self._set_aside]
        for index, exchange in enumerate(self.exchanges):
            if any(item is old for item in exchange.attachments):
                found = tuple(new if item is old else item for item in exchange.attachments)
                self.exchanges[index] = replace(exchange, attachments=found)

    def name_it(self) -> None:
        """Give the conversation an id, if it has none: a secret that its browser keeps."""
        self.id = self.id or secrets.token_hex(16)

    # Answers

    def ask(self, question: Exchange, run: Run, place: int, aside: bool = False) -> None:
        """Begin an answer at `place`; what came after it is gone unless it is put back.

        The draft's images now belong to the question, unless it is one asked again. A question
        that was asked `aside` of the fields leaves them as they are.
        """
        self.aside = aside
        self.name_it()
        self._before = list(self.exchanges)
        self.exchanges = [*self.exchanges[:place], question]
        self.draft = [item for item in self.draft if item not in question.attachments]
        self._edited = self.editing
        self.stop_editing()
        self.run, self.progress, self.typed = run, None, ""
        self._deleted = None

    def put_back(self) -> str | None:
        """Undo the last question. What belongs in the prompt box, None for what is there.

        That is the question, its images a draft again, unless something else has been typed since.
        A question that was asked again has its old answer, and stays out of the box.
        """
        question = self.exchanges[-1]
        asked_again = self.asked_again
        self.exchanges = self._before
        if asked_again or self.aside:
            return None
        if self._edited is not None:
            self.edit(self._edited, self.unsent)
            self.draft = []
        self.draft[:0] = question.attachments
        return self.typed or question.prompt

    def finish(self, result: Result) -> bool:
        """The last question has its answer; whether it was asked again, and answered the same."""
        before = self._before[-1].result if self.asked_again else None
        self._keep(result)
        self.answered += 1
        return before is not None and before.text == result.text

    @property
    def asked_again(self) -> bool:
        """Whether the last question was asked before, unchanged."""
        return self._edited is None and len(self._before) == len(self.exchanges)

    def stop(self) -> None:
        """Stop the answer in flight, if there is one; whoever reads it then finishes it."""
        if self.run:
            self.run.stop()

    def leave(self) -> None:
        """Stop the answer in flight, and keep what there is of it."""
        if not self.run:
            return
        self.run.stop()
        self.run = None
        if self.progress and self.progress.text:
            self._keep(self.progress.result("abort"))

    def _keep(self, result: Result) -> None:
        self.exchanges[-1] = replace(self.exchanges[-1], result=result)

    # Turns

    @property
    def waiting(self) -> list[Attachment]:
        """The images that wait to be sent, without those of an edit."""
        return self.draft if self.editing is None else self._set_aside

    def edit(self, index: int, unsent: str) -> str:
        """Begin to edit an earlier question: its images are the draft. Its text.

        `unsent` is what stood in the prompt box, as the draft did, before the first edit.
        """
        if not self.stop_editing():
            self.unsent = unsent
        self.editing = index
        self._set_aside, self.draft = self.draft, list(self.exchanges[index].attachments)
        return self.exchanges[index].prompt

    def stop_editing(self) -> bool:
        """The draft is again what it was before an edit; whether there was one."""
        if self.editing is None:
            return False
        self.editing, self.draft, self._set_aside = None, self._set_aside, []
        return True

    def delete(self, index: int) -> None:
        """Forget one question with its answer, as `undelete` can bring back the last one."""
        self.stop_editing()
        self._deleted = index, self.exchanges.pop(index)

    def undelete(self) -> int | None:
        """Bring back what was deleted last, if nothing was asked since; where it now is."""
        if self._deleted is None:
            return None
        (index, exchange), self._deleted = self._deleted, None
        self.stop_editing()
        self.exchanges.insert(index, exchange)
        return index

    # Conversations

    def open(self, identity: str, exchanges: Sequence[Exchange]) -> None:
        """Go over to another conversation; what was not yet sent stays for it."""
        self.leave()
        self.stop_editing()
        self._deleted = None
        self.id, self.exchanges = identity, list(exchanges)

    def clear(self, typed: str = "") -> None:
        """Forget everything; an answer in flight is stopped. `typed` is in the prompt box."""
        identity = self.id
        self.begin_anew()
        self._cleared = identity, self.draft, typed
        self.draft = []

    def unclear(self, identity: str, typed_since: str = "") -> str:
        """Where this conversation was cleared last: its draft is there again; what was typed.

        Not where something else is about to be sent by now.
        """
        cleared, draft, typed = self._cleared
        if not identity or identity != cleared or self.draft or typed_since.strip():
            return ""
        self._cleared = "", [], ""
        self.draft = draft
        return typed

    def begin_anew(self) -> None:
        """A new conversation; what was not yet sent stays for it."""
        self.stop()
        self.run = None
        self.stop_editing()
        self.id = ""
        self._deleted = None
        self.exchanges = []


def turns(
    earlier: Sequence[Exchange], question: Exchange, system_prompt: str = ""
) -> tuple[Turn, ...]:
    """The conversation so far, then a question that has no answer yet.

    A question without an answer is left out: chat templates expect question and answer in turn.
    """
    found = [Turn("system", system_prompt)] if system_prompt.strip() else []
    for exchange in earlier:
        if exchange.result and exchange.result.text:
            found += [exchange.user_turn, Turn("assistant", exchange.result.text)]
    return (*found, question.user_turn)
