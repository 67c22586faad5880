"""Journal: one line in the log for every request, with an id that a person can quote.

A line holds names and numbers alone. Prompts and answers are in it only with `log-prompts`; images,
addresses of images and passwords never are.
"""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from backend.client import Client
from backend.errors import BifocalError, EngineError
from backend.metrics import Metrics
from backend.types import ChatRequest, Result

log = logging.getLogger("bifocal.requests")


@dataclass(eq=False, slots=True)
class Entry:
    """What is noted of one request; `result` is set when it is answered."""

    id: str = field(default_factory=lambda: secrets.token_hex(4))
    result: Result | None = None


class Journal:
    """Notes every request's end, in the log and in the metrics."""

    def __init__(self, metrics: Metrics, with_prompts: bool) -> None:
        self._metrics, self._with_prompts = metrics, with_prompts

    @contextmanager
    def request(self, request: ChatRequest, client: Client) -> Iterator[Entry]:
        """Around one request. A fault of an engine gets the id into its message."""
        entry, outcome, started = Entry(), "cancelled", time.monotonic()
        try:
            yield entry
        except EngineError as error:
            outcome = error.code
            raise EngineError(
                f"{error.message} (Request {entry.id}.)", error.code, may_pass=error.may_pass
            ) from error
        except BifocalError as error:
            outcome = error.code
            raise
        except Exception:
            # Passed on as it is; here it gets the request's id, and its trace into the log.
            outcome = "unexpected"
            log.exception("request %s", entry.id)
            raise
        finally:
            if entry.result:
                outcome = entry.result.finish_reason or outcome
                self._metrics.answered(entry.result)
            self._metrics.ended(outcome)
            spent = time.monotonic() - started
            log.info("%s", json.dumps(self._line(entry, outcome, spent, request, client)))

    def _line(
        self, entry: Entry, outcome: str, spent: float, request: ChatRequest, client: Client
    ) -> dict[str, Any]:
        line: dict[str, Any] = {"request": entry.id, "outcome": outcome, "seconds": round(spent, 3)}
        if client.session:
            line["session"] = client.session
        line["turns"] = len(request.turns)
        line["images"] = sum(len(turn.images) for turn in request.turns)
        if entry.result:
            whole = entry.result.as_json()
            line |= {**whole["usage"], **whole["timings"]}
        if self._with_prompts:
            line["prompt"] = request.turns[-1].text if request.turns else ""
            line["answer"] = entry.result.text if entry.result else ""
        return line
