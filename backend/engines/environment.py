"""The process environment vLLM needs, set once at launch and before vLLM is imported."""

import os
from collections.abc import MutableMapping

from backend.plan import Plan, cpu_count

COMPILING_S = 6 * 3600
"""Seconds that compiling may take before an engine is given up."""

SETTINGS = {
    # No usage statistics leave the machine.
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    # stdout carries answers alone.
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",
    # Forked engine processes would inherit the page's threads and sockets.
    "VLLM_WORKER_MULTIPROC_METHOD": "spawn",
    "TOKENIZERS_PARALLELISM": "false",
}

DEFAULTS = {
    # A person's terminal shows our lines; VLLM_LOGGING_LEVEL=INFO brings vLLM's back.
    "VLLM_LOGGING_LEVEL": "ERROR",
    "TRANSFORMERS_VERBOSITY": "error",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Workers end at once when the app does; vLLM's own grace period runs into its kill time-out.
    "VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS": "0",
    # Both engines may use every core; vLLM would keep one back from each.
    "VLLM_CPU_NUM_OF_RESERVED_CPU": "0",
    # Idle threads sleep: those that spin take the cores from the other engine.
    "OMP_WAIT_POLICY": "passive",
    # Deprecations inside vLLM's dependencies, once in each of five processes; and the shared memory
    # of killed workers, which Python's resource tracker frees, but not in silence.
    "PYTHONWARNINGS": "ignore::FutureWarning,ignore:resource_tracker:UserWarning",
    # torch's note that triton is missing, once in each process.
    "TORCH_LOGS": "-all",
    # torch warns of a NUMA policy that vLLM itself chose.
    "TORCH_CPP_LOG_LEVEL": "ERROR",
}


def prepare_environment(plan: Plan, environment: MutableMapping[str, str] = os.environ) -> None:
    """Set what must be so, and what a person has not set otherwise."""
    environment.update(SETTINGS)
    for name, value in DEFAULTS.items():
        environment.setdefault(name, value)
    if plan.target == "cpu":
        # vLLM would take a single thread for an engine without a worker process of its own.
        environment.setdefault("OMP_NUM_THREADS", str(cpu_count()))
        # In eager mode, too, some models (Command A) compile single functions, which takes seconds
        # and a C++ compiler that may not be there.
        environment.setdefault("TORCH_COMPILE_DISABLE", "1")
    if plan.target == "qaic":
        # A first start compiles, which takes longer than vLLM's ten minutes.
        environment.setdefault("VLLM_ENGINE_READY_TIMEOUT_S", str(COMPILING_S))
    if plan.spec.bundled:
        # The bundled model needs no network; asking the hub would only wait for a time-out.
        environment["HF_HUB_OFFLINE"] = "1"
