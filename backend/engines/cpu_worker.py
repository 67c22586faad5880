"""vLLM's CPU worker for a small language decoder: one thread decodes, all of them read a prompt.

Set before vLLM lays out a step, since it shares the attention's work out among as many threads as
there are then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vllm.v1.worker.cpu_worker import CPUWorker

from backend.engines.plugin import THREADS
from backend.engines.threads import all_threads, compute_with

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput

LONG_STEP = 256
"""Tokens of a step worth sharing out: a prompt with a new image, never a batch of answers."""


class SmallDecoderWorker(CPUWorker):  # type: ignore[misc]
    """Takes `additional_config["threads"]` threads for a short step, and all for a long one."""

    def execute_model(self, scheduler_output: SchedulerOutput) -> Any:
        """One step, as upstream."""
        few: int = self.vllm_config.additional_config[THREADS]
        is_long = scheduler_output.total_num_scheduled_tokens >= LONG_STEP
        compute_with(all_threads() if is_long else few)
        return super().execute_model(scheduler_output)
