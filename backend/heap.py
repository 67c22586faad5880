"""The heap once everything is loaded: most of it will never be garbage, and is not searched again.

With vLLM, transformers and the page imported a full collection goes through a million objects,
during which no token of any answer goes on.
"""

from __future__ import annotations

import gc


def settle() -> None:
    """Take what is there now for permanent."""
    gc.collect()
    gc.freeze()


def collect() -> None:
    """Free what is garbage now, also of what was there when it settled. Engines end by that."""
    gc.unfreeze()
    gc.collect()
