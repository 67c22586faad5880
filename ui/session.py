"""What the page remembers of one browser tab, from its first image to its last answer.

One `Session` lives in a `gr.State`. It is changed in place, never replaced, so that two events of
the same tab (an upload that is still being measured, and a second one) cannot undo each other.
"""

from __future__ import annotations

from dataclasses import dataclass
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
        self.status_shown = ""

    def turns(self, system_prompt: str) -> tuple[Turn, ...]:
        """The whole conversation, ending with the question that has no answer yet.

        A question whose answer was stopped before its first word is left out: chat templates
        expect question and answer in turn.
        """
        turns = [Turn("system", system_prompt)] if system_prompt.strip() else []
        *answered, last = self.exchanges
        for exchange in answered:
            if exchange.result and exchange.result.text:
                turns += [exchange.user_turn, Turn("assistant", exchange.result.text)]
        return (*turns, last.user_turn)

    def images(self) -> list[Attachment]:
        """Every image of the conversation in its order, those not yet sent last."""
        return [a for exchange in self.exchanges for a in exchange.attachments] + self.draft

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
