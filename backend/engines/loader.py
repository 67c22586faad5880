"""Starts the engines of a plan: two at the same time, or one."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.catalog.hub import config_folder
from backend.catalog.lookup import model_path
from backend.engines.architectures import refuse_unknown_architecture
from backend.engines.args import EngineArgs, engine_args
from backend.engines.protocols import LanguageDecoder, VisionEncoder
from backend.errors import BifocalError, EngineError, ModelError
from backend.plan import Plan, refuse_remote_code
from backend.types import EngineState

Report = Callable[[str, EngineState, str], None]
"""Called with an engine's role, its state and a sentence; from any thread."""

_visible_devices = threading.Lock()


@dataclass(frozen=True, slots=True)
class Engines:
    """`encoder` is None where one fused engine does both."""

    encoder: VisionEncoder | None
    decoder: LanguageDecoder


def load_engines(plan: Plan, report: Report) -> Engines:
    """Import vLLM and start the engines. Blocking, tens of seconds; raises EngineError.

    Configurations are made one after the other (vLLM keeps the current one in a global), engines
    are then started side by side, each in its own thread.
    """
    if plan.target == "qaic":
        raise EngineError(
            "This version does not start engines on QAIC cards yet; `engine-args --target qaic` "
            "prints what they would be started with. Use --target cpu or cuda to run the app."
        )
    refuse_remote_code(plan)
    roles = engine_args(plan)
    for role in roles:
        report(role, "loading", "importing vLLM")
    refuse_unknown_architecture(plan.spec)
    _require_files(plan)
    configs = {role: _config(plan, role, args) for role, args in roles.items()}

    def start(role: str) -> Any:
        report(role, "loading", "starting the engine process and loading weights")
        # Engine processes inherit this: Ctrl-C in a terminal reaches the whole process group, but
        # it is for us alone, who then end the engines in order.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        engine = _start(plan, role, configs[role])
        try:
            report(role, "ready", "" if role == "vision" else " ".join(plan.notes))
        except BifocalError:
            engine.shutdown()
            raise
        return engine

    with ThreadPoolExecutor(len(configs), thread_name_prefix="load") as pool:
        started = {role: pool.submit(start, role) for role in configs}
    failures = [future.exception() for future in started.values() if future.exception()]
    if failures:
        for future in started.values():
            if not future.exception():
                future.result().shutdown()
        raise failures[0]  # type: ignore[misc]
    engines = {role: future.result() for role, future in started.items()}
    return Engines(engines.get("vision"), engines.get("language") or engines["fused"])


def _require_files(plan: Plan) -> None:
    """Raises ModelError (`model_unavailable`) at once where vLLM would try for a minute."""
    path = model_path(plan.spec)
    if not Path(path).is_dir():
        try:
            config_folder(path)
        except ModelError as error:
            raise ModelError("model_unavailable", error.message) from None


def _config(plan: Plan, role: str, args: EngineArgs) -> Any:
    try:
        from vllm.engine.arg_utils import AsyncEngineArgs

        config = AsyncEngineArgs(**args).create_engine_config()
        if plan.target == "cpu" and plan.tensor_parallel_size == 1:
            # On the CPU vLLM runs its worker in a process of its own, to bind threads to cores.
            # Without it an engine is ready in little more than half the time (measured: both in
            # 25 s rather than 45 s on two cores), and a step passes no further process.
            config.parallel_config.distributed_executor_backend = "uni"
        return config
    except ImportError as error:
        raise EngineError(
            f"vLLM cannot be imported ({error}). Run `make install` again."
        ) from error
    except Exception as error:
        raise _start_failure(role, error) from error


def _start(plan: Plan, role: str, config: Any) -> Any:
    from vllm.v1.engine.async_llm import AsyncLLM

    from backend.engines.decoder import VllmFusedEngine, VllmLanguageDecoder
    from backend.engines.encoder import VllmVisionEncoder

    try:
        with _devices(plan, role):
            engine = AsyncLLM.from_vllm_config(config, disable_log_stats=True)
        if role == "vision":
            return VllmVisionEncoder(engine, plan.spec)
        kind = VllmFusedEngine if role == "fused" else VllmLanguageDecoder
        return kind(engine, plan.spec)
    except Exception as error:
        raise _start_failure(role, error) from error


@contextmanager
def _devices(plan: Plan, role: str) -> Iterator[None]:
    """On CUDA the engine process sees its device group alone; the variable is the process's own."""
    if plan.target != "cuda":
        yield
        return
    devices = plan.language_devices if role == "language" else plan.vision_devices
    with _visible_devices:
        before = os.environ.get("CUDA_VISIBLE_DEVICES")
        os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, devices))
        try:
            yield
        finally:
            if before is None:
                del os.environ["CUDA_VISIBLE_DEVICES"]
            else:
                os.environ["CUDA_VISIBLE_DEVICES"] = before


def _start_failure(role: str, error: Exception) -> BifocalError:
    if isinstance(error, BifocalError):
        return error
    reason = " ".join(str(error).split())[:300] or type(error).__name__
    return EngineError(
        f"The {role} engine did not start: {reason} Set VLLM_LOGGING_LEVEL=INFO to see vLLM's log."
    )
