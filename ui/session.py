"""What the page remembers of one browser tab, from its first image to its last answer.

One `Session` lives in a `gr.State`. It is changed in place, never replaced, so that two events of
the same tab (an upload that is still being measured, and a second one) cannot undo each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backend.types import ImageInput, PlacedImage, Result, Turn

if TYPE_CHECKING:
    from ui.stream import Run


@dataclass(frozen=True, slots=True)
class Attachment:
    """An image in the page: as it was given, where it was placed, and a thumbnail (data URI)."""

    image: ImageInput
    placed: PlacedImage
    thumbnail: str


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


class Session:
    """The conversation, the images waiting to be sent, and the answer in flight, if any.

    Not a dataclass: Gradio would turn one into a dictionary.
    """

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.draft: list[Attachment] = []
        self.run: Run | None = None
        self.typed = ""
        self.status_shown = ""

    def turns(self, question: Exchange, system_prompt: str = "") -> tuple[Turn, ...]:
        """The conversation so far, then a question that has no answer yet.

        A question whose answer was stopped before its first word is left out: chat templates
        expect question and answer in turn.
        """
        turns = [Turn("system", system_prompt)] if system_prompt.strip() else []
        for exchange in self.exchanges:
            if exchange.result and exchange.result.text:
                turns += [exchange.user_turn, Turn("assistant", exchange.result.text)]
        return (*turns, question.user_turn)

    def images(self) -> list[Attachment]:
        """Every image of the conversation in its order, those not yet sent last."""
        return [a for exchange in self.exchanges for a in exchange.attachments] + self.draft

    def swap(self, old: Attachment, new: Attachment) -> None:
        """Replace an image of the draft, if it is still there."""
        self.draft = [new if item is old else item for item in self.draft]

    def ask(self, question: Exchange, run: Run) -> None:
        """Begin an answer: the draft's images now belong to the question."""
        self.exchanges.append(question)
        self.draft = [item for item in self.draft if item not in question.attachments]
        self.run, self.typed = run, ""

    def put_back(self) -> str:
        """Undo the last question: its images are a draft again. What belongs in the prompt box.

        That is the question, unless something else has been typed there since.
        """
        question = self.exchanges.pop()
        self.draft[:0] = question.attachments
        return self.typed or question.prompt

    def finish(self, result: Result) -> None:
        """The last question has its answer."""
        self.exchanges[-1] = replace(self.exchanges[-1], result=result)

    def clear(self) -> None:
        """Forget everything; an answer in flight is stopped."""
        self.stop()
        self.run = None
        self.exchanges.clear()
        self.draft.clear()

    def stop(self) -> None:
        """Stop the answer in flight, if there is one; whoever reads it then finishes it."""
        if self.run:
            self.run.stop()
