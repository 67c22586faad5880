"""From a question to its answer in the page: check it, stream it, and keep what came of it."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from backend.errors import BifocalError, InputError
from backend.types import Sampling
from ui import inputs, render
from ui.memory import Memory
from ui.paint import Painter, View
from ui.session import Exchange, Session
from ui.stream import Progress, Run
from ui.transcript import in_a_row, lost_images, transcript
from ui.visitor import visitor

if TYPE_CHECKING:
    from backend.service import Bifocal

Views = AsyncGenerator[View, None]

BUSY = "An answer is under way: wait for it, or stop it first."
STOPPED = "Stopped before the first word. Your question is back in its box."
STOPPED_AGAIN = "Stopped before the first word: the earlier answer is back."
THE_SAME = "The answer is the same as before{}."
LOST = (
    "{} no longer on the server: it keeps pictures for a day, and an exported file has small copies"
    " alone. Add the same picture again and it takes its old place; or edit that question, delete"
    " it, or begin a new conversation."
)


BROKEN = "Something went wrong inside Bifocal; its log says what. Your question can be sent again."


def the_same(sampling: Sampling) -> str:
    """What is told where another answer was wanted, and how to get one with other settings."""
    ways = ["raise the temperature"] if not sampling.temperature else []
    ways += ["empty the seed"] if sampling.seed is not None else []
    if not ways:
        return THE_SAME.format(", although it was drawn anew")
    return THE_SAME.format(f". For another one, {' and '.join(ways)} in the settings")


class Asking:
    """Asks the backend, and draws its answers."""

    def __init__(self, backend: Bifocal, paint: Painter, memory: Memory) -> None:
        self._backend = backend
        self._paint = paint
        self._memory = memory

    async def ask(
        self,
        session: Session,
        question: Exchange,
        fields: Sequence[Any],
        place: int | None = None,
        anew: bool = False,
    ) -> Views:
        """Check a question, then stream its answer; a message in place where it is not right.

        It goes to `place` in the conversation (else where the session has it), or `anew` into a
        conversation of its own.
        """
        place = 0 if anew else session.place if place is None else place
        try:
            options = inputs.read_options(*fields)
            request = inputs.read_question(session.exchanges[:place], question, options)
            self._refuse_lost(session, question, place)
            self._backend.check(request)
        except BifocalError as error:
            yield self._paint.say(error.message)
            return
        if session.run:
            yield self._paint.say(BUSY)
            return
        if anew:
            session.begin_anew()
        events = self._backend.stream(request, visitor())
        run = Run(events, lambda: self._backend.answering)
        session.ask(question, run, place, aside=anew)
        async with aclosing(self._answer(session, the_same(options.sampling))) as views:
            async for view in views:
                yield view

    def _refuse_lost(self, session: Session, question: Exchange, place: int) -> None:
        session.exchanges = [exchange.checked() for exchange in session.exchanges]
        session.draft = [item.checked() for item in session.draft]
        lost = lost_images([*session.exchanges[:place], question.checked()])
        if lost:
            names = [f"image {number} ({item.placed.source})" for number, item in lost]
            what = f"{in_a_row(names)} {'is' if len(lost) == 1 else 'are'}"
            raise InputError("image_gone", LOST.format(f"{what[0].upper()}{what[1:]}"))

    async def _answer(self, session: Session, the_same: str) -> Views:
        """Stream one answer into the page. On an error all is put back as it was before.

        `the_same` is told of a question that was asked again and is answered as it was before.
        """
        run = session.run
        assert run
        try:
            async with aclosing(self._progress(session, run, the_same)) as views:
                async for view in views:
                    yield view
        except BifocalError as error:
            if session.run is run:
                session.run = None
                yield self._put_back(session, render.problem(error.message))
        except Exception:
            # The log has it in full; the person is told, and keeps the question and the page.
            logging.getLogger(__name__).exception("a fault while answering")
            if session.run is run:
                session.run = None
                yield self._put_back(session, render.problem(BROKEN))
        finally:
            run.stop()
            if session.run is run:
                # The page went away: what there is of the answer is there when it comes back.
                session.panel_shown = ""
                session.leave()
                self._memory.put(session)

    async def _progress(self, session: Session, run: Run, the_same: str) -> Views:
        progress = session.progress = Progress(self._backend)
        earlier = transcript(session.exchanges, under_way=True)
        yield {**self._paint.begin(session), **self._memory.keep(session)}
        async with aclosing(run.batches()) as batches:
            async for events in batches:
                if session.run is not run:
                    break
                progress.add(events)
                yield self._paint.during(session, progress, earlier, events)
        if session.run is not run:
            if not session.run:
                # A browser may draw the last of this after what came in its place.
                yield self._paint.afresh(session)
            return
        session.run = None
        if run.stopped and not progress.text:
            message = STOPPED_AGAIN if session.asked_again else STOPPED
            yield self._put_back(session, render.notice(message))
            return
        is_same = session.finish(progress.result("abort"))
        said = {self._paint.page.message: render.notice(the_same)} if is_same else {}
        yield {**self._paint.idle(session), **said, **self._memory.keep(session)}

    def _put_back(self, session: Session, message: str) -> View:
        return {**self._paint.put_back(session, message), **self._memory.keep(session)}
