"""Starts the engines of a plan, each in a call of its own."""

from __future__ import annotations

import re
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from backend.catalog.hub import config_folder
from backend.catalog.lookup import model_path
from backend.engines.abandon import fatal_signal
from backend.engines.architectures import refuse_unknown_architecture
from backend.engines.args import EngineArgs, engine_args
from backend.engines.gpu_memory import shared_memory
from backend.engines.protocols import Engine
from backend.engines.root_cause import make_folder, take_root_cause
from backend.engines.serve_args import front_args
from backend.engines.version import check_vllm
from backend.engines.visible_devices import configuring_devices, start_on
from backend.engines.weights import check_weights
from backend.errors import BifocalError, EngineError, ModelError
from backend.heavy_imports import heavy_imports
from backend.plan import Plan, refuse_remote_code

Report = Callable[[str], None]
"""Called with what a loader does now, a few words; from any thread."""

PROCESS_ENDED = "Engine core initialization failed"
"""How vLLM reports an engine process that ended before it was ready."""

ENGINE_MODULE = "vllm.v1.engine.async_llm"
"""What takes longest to import."""

GREET_EVERY_S = 1.0
"""Between two looks at servers of which none answers yet."""

LET_PASS_S = 0.1
"""Between the page's imports and vLLM's: who waits for the first need not wait for the second."""


def engine_roles(plan: Plan) -> tuple[str, ...]:
    """The engines of a plan: `vision` and `language`, or `fused`."""
    return ("fused",) if plan.topology == "fused" else ("vision", "language")


class EngineLoader:
    """Starts one engine at a time, or two side by side from two threads.

    Configurations are made one after the other (vLLM keeps the current one in a global), all of
    them before the first engine is started; an engine that is started again gets a new one.
    """

    def __init__(self) -> None:
        self._configuring = threading.Lock()
        self._configs: dict[str, Any] | None = None

    def __call__(self, plan: Plan, role: str, report: Report) -> Engine:
        """Import vLLM and start the engine. Blocking, tens of seconds.

        Raises EngineError, ModelError or SettingError.
        """
        if ENGINE_MODULE not in sys.modules:
            report("importing vLLM")
        config = self._config(plan, role)
        if plan.topology == "remote":
            return _connect(plan, role, config, report)
        report("starting the engine process and loading weights")
        try:
            make_folder()
        except OSError as error:
            raise EngineError(
                f"Nothing can be written among the temporary files ({error.strerror}): free some "
                "space, or choose another folder with the variable TMPDIR."
            ) from None
        # Engine processes inherit this: Ctrl-C in a terminal reaches the whole process group, but
        # it is for us alone, who then end the engines in order.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        return _start(plan, role, config)

    def _config(self, plan: Plan, role: str) -> Any:
        check_vllm()
        refuse_remote_code(plan)
        # The page's part of the imports first: whoever has a picture need not wait for vLLM's.
        _ = plan.buckets
        time.sleep(LET_PASS_S)
        with self._configuring, heavy_imports():
            import_engines()
            refuse_unknown_architecture(plan.spec)
            _require_files(plan)
            if self._configs is None:
                self._configs = {name: engine_config(plan, name) for name in engine_roles(plan)}
            return self._configs.pop(role, None) or engine_config(plan, role)


def _require_files(plan: Plan) -> None:
    """Raises ModelError (`model_unavailable`) at once where vLLM would try for a minute."""
    path = model_path(plan.spec)
    if Path(path).is_dir():
        if plan.topology != "remote":
            check_weights(Path(path), plan)
    else:
        try:
            config_folder(path)
        except ModelError as error:
            raise ModelError("model_unavailable", error.message) from None


def engine_config(plan: Plan, role: str, args: EngineArgs | None = None) -> Any:
    """vLLM's configuration of one engine, from other arguments than the plan's if there are any.

    To be made one at a time. Raises EngineError.
    """
    try:
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.usage.usage_lib import UsageContext

        # By this vLLM chooses how many tokens a step takes on a GPU: as many as its own server.
        usage = UsageContext.OPENAI_API_SERVER
        remote = plan.topology == "remote"
        args = args or (front_args(plan, role) if remote else engine_args(plan)[role])
        if role == "language" and not remote:
            args = {**args, **shared_memory(plan)}
        with configuring_devices(plan):
            config = AsyncEngineArgs(**args).create_engine_config(usage)
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


def import_engines() -> None:
    """All that an engine is started with. Raises EngineError where vLLM cannot be imported."""
    try:
        import vllm.v1.engine.async_llm  # noqa: F401

        import backend.engines.decoder
        import backend.engines.encoder
        import backend.engines.qaic
        import backend.engines.remote
        import backend.engines.stats  # noqa: F401
    except ImportError as error:
        raise EngineError(
            f"vLLM cannot be imported ({error}). Run `make install` again."
        ) from error


def _connect(plan: Plan, role: str, config: Any, report: Report) -> Engine:
    """Wait until a server of this role can be used; `report` is told what it waits for.

    Raises EngineError for what will not change by waiting, such as a wrong key.
    """
    from backend.engines.remote import RemoteLanguageDecoder, RemoteVisionEncoder

    kind = RemoteVisionEncoder if role == "vision" else RemoteLanguageDecoder
    try:
        engine = kind(plan, config)
    except Exception as error:
        raise _start_failure(role, error) from error
    try:
        while True:
            try:
                engine.fleet.greet()
                return engine
            except EngineError as error:
                if not error.may_pass:
                    raise
                # Raises where the app ends.
                report(error.message)
            time.sleep(GREET_EVERY_S)
    except EngineError:
        engine.shutdown()
        raise


def _start(plan: Plan, role: str, config: Any) -> Engine:
    from prometheus_client import CollectorRegistry
    from vllm.v1.engine.async_llm import AsyncLLM

    from backend.engines.stats import counting_in

    try:
        devices = plan.language_devices if role == "language" else plan.vision_devices
        registry = CollectorRegistry()
        loggers = [counting_in(registry)]
        engine = start_on(
            plan,
            devices,
            lambda: AsyncLLM.from_vllm_config(config, stat_loggers=loggers, disable_log_stats=True),
        )
        return _kind(plan, role)(engine, plan.spec, registry)
    except Exception as error:
        raise _start_failure(role, error) from error


def _kind(plan: Plan, role: str) -> Callable[..., Engine]:
    """What an engine of this role is asked through."""
    from backend.engines import decoder, encoder, qaic

    kinds: dict[str, Callable[..., Engine]] = {
        "vision": encoder.VllmVisionEncoder,
        "language": decoder.VllmLanguageDecoder,
        "fused": decoder.VllmFusedEngine,
    }
    if plan.target == "qaic":
        kinds = {
            "vision": qaic.QaicVisionEncoder,
            "language": qaic.QaicLanguageDecoder,
            "fused": qaic.QaicEagerEngine,
        }
    return kinds[role]


def _start_failure(role: str, error: Exception) -> BifocalError:
    if isinstance(error, BifocalError):
        return error
    reason = " ".join(_words(error).split())[:300] or type(error).__name__
    killed_by = _killed_by(reason) if reason.startswith(PROCESS_ENDED) else None
    if killed_by:
        return EngineError(
            f"The {role} engine's process was ended from outside while it started ({killed_by}): "
            "the system may be out of memory.",
            may_pass=True,
        )
    if reason.startswith(PROCESS_ENDED):
        reason = take_root_cause() or reason
    return EngineError(
        f"The {role} engine did not start: {reason} Set VLLM_LOGGING_LEVEL=INFO to see vLLM's log."
    )


def _words(error: Exception) -> str:
    """An exception's own; of pydantic's, in which vLLM's configurations wrap theirs, the message
    alone."""
    wrapped = getattr(error, "errors", None)
    if not callable(wrapped):
        return str(error)
    return " ".join(str(found["msg"]).removeprefix("Value error, ") for found in wrapped())


def _killed_by(reason: str) -> str | None:
    """The signal in vLLM's report, or that of the process, if vLLM did not know it yet."""
    told = re.search(r": -(\d+)", reason)
    return signal.Signals(int(told[1])).name if told else fatal_signal()
