"""VllmEngine: what every engine of ours does with its AsyncLLM, whatever it is asked for."""

from __future__ import annotations

from typing import ClassVar

from vllm.v1.engine.async_llm import AsyncLLM

from backend.engines.ending import end_engine
from backend.engines.faults import engine_faults


class VllmEngine:
    """One AsyncLLM and its life; `name` is the engine as a person knows it."""

    name: ClassVar[str]

    def __init__(self, engine: AsyncLLM) -> None:
        self._engine = engine

    async def check_health(self) -> None:
        async with engine_faults(self.name):
            await self._engine.check_health()

    async def parameters(self) -> dict[str, int]:
        counts: list[dict[str, int]] = await self._engine.collective_rpc("census")
        return counts[0]

    @property
    def unfinished(self) -> int:
        return int(self._engine.get_num_unfinished_requests())

    def shutdown(self) -> None:
        end_engine(self._engine)
        # AsyncLLM cleans up in __del__, which must not be left to the interpreter's end.
        del self._engine
