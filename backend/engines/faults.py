"""vLLM's exceptions to Bifocal's, in one place."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from vllm.exceptions import VLLMValidationError
from vllm.v1.engine.exceptions import EngineDeadError, EngineGenerateError

from backend.errors import EngineError, InputError


@asynccontextmanager
async def engine_faults(name: str) -> AsyncIterator[None]:
    """Maps what an engine call raises; `name` is the engine as a person knows it.

    vLLM refuses a request with VLLMValidationError (the request's fault), wraps what goes wrong in
    a call in EngineGenerateError, whose message is empty, and reports a dead engine process with
    EngineDeadError.
    """
    try:
        yield
    except EngineDeadError:
        raise EngineError(
            f"The {name} stopped working and is being started again: ask once more in a moment.",
            may_pass=True,
        ) from None
    except EngineGenerateError as error:
        cause = type(error.__cause__).__name__ if error.__cause__ else "no reason given"
        raise EngineError(f"The {name} could not process the request ({cause}).") from error
    except VLLMValidationError as error:
        raise InputError("bad_request", f"The {name} refused the request: {error}") from error
