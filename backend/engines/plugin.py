"""vLLM plugin: two more architectures, one half each, for every multimodal model vLLM knows.

vLLM loads it through the entry point `vllm.general_plugins` in every process it starts. For an
upstream architecture X it registers `BifocalVision__X` and `BifocalLanguage__X`; an engine selects
one with `hf_overrides={"architectures": [...]}`. Only names are registered here; the classes are
built when an engine asks for them (see `vision_only` and `language_only`).
"""

import multiprocessing
import os
import signal
import threading
from functools import cache
from importlib import import_module

from backend.engines.root_cause import tell_root_cause

VISION_PREFIX = "BifocalVision__"
LANGUAGE_PREFIX = "BifocalLanguage__"
WORKER_EXTENSION = "backend.engines.census.Census"
DECODER_WORKER = "backend.engines.cpu_worker.SmallDecoderWorker"
THREADS = "threads"
"""The key in `additional_config` for the number of threads that an engine computes with."""
NICE = "nice"
"""The same for how far it gives way to other processes, as in nice(1)."""


@cache
def end_with_parent() -> None:
    """In a process that another started: end when that one is gone, however it went.

    vLLM's engine processes outlive an app that is killed, and hold their memory and devices.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()


def register() -> None:
    """Entry point; safe to call more than once."""
    end_with_parent()
    if multiprocessing.parent_process() is not None:
        tell_root_cause()
    # Before a worker exists, see there.
    import_module("backend.engines.threads")
    import_module("backend.engines.views").accept_views()
    from vllm.model_executor.models.registry import _MULTIMODAL_MODELS, ModelRegistry

    for architecture in _MULTIMODAL_MODELS:
        vision, language = VISION_PREFIX + architecture, LANGUAGE_PREFIX + architecture
        ModelRegistry.register_model(vision, f"backend.engines.vision_only:{vision}")
        ModelRegistry.register_model(language, f"backend.engines.language_only:{language}")
