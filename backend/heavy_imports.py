"""Imports that take seconds, one thread at a time.

The page is up before transformers and vLLM are imported, so a first picture, a first question and
the loading of each engine all import them, at the same moment and from threads of their own. Python
then breaks the circle of locks between two half imported packages by handing one of them out
unfinished, and the import fails ("partially initialized module").
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

_one_at_a_time = threading.RLock()


@contextmanager
def heavy_imports() -> Iterator[None]:
    """Around import statements; waits for a thread that is importing."""
    with _one_at_a_time:
        yield
