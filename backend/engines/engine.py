"""VllmEngine: what every engine of ours does with its AsyncLLM, whatever it is asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from prometheus_client import CollectorRegistry, Metric
from vllm.v1.engine.async_llm import AsyncLLM

from backend.engines.ending import end_engine, engine_pids
from backend.engines.faults import engine_faults
from backend.engines.pulse import Pulse
from backend.errors import EngineError


class VllmEngine:
    """One AsyncLLM and its life; `name` is the engine as a person knows it."""

    name: ClassVar[str]

    def __init__(self, engine: AsyncLLM, registry: CollectorRegistry) -> None:
        """`registry` is where the engine counts."""
        self._engine, self._registry = engine, registry
        self._pulse = Pulse(engine_pids(engine), engine.is_sleeping)

    async def check_health(self) -> None:
        async with engine_faults(self.name):
            await self._engine.check_health()
        reason = await self._pulse.hung()
        if reason:
            raise EngineError(f"The {self.name} hangs ({reason}).", may_pass=True)

    async def parameters(self) -> dict[str, int]:
        counts: list[dict[str, int]] = await self._engine.collective_rpc("census")
        return counts[0]

    @property
    def unfinished(self) -> int:
        return int(self._engine.output_processor.get_num_unfinished_requests())

    @property
    def detail(self) -> str:
        return ""

    def metrics(self) -> Iterable[Metric]:
        families: Iterable[Metric] = self._registry.collect()
        return families

    def kill(self) -> None:
        self._pulse.kill()

    def shutdown(self) -> None:
        self._pulse.close()
        end_engine(self._engine)
        # AsyncLLM cleans up in __del__, which must not be left to the interpreter's end.
        del self._engine, self._pulse
