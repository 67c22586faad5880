"""How many threads a small decoder takes for a step."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from backend.engines import threads

MANY = 3


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Runs steps of so many tokens; the threads that vLLM has for each."""
    from backend.engines import cpu_worker

    before = torch.get_num_threads()
    torch.set_num_threads(MANY)
    threads.all_threads.cache_clear()
    worker: Any = object.__new__(cpu_worker.SmallDecoderWorker)
    worker.vllm_config = SimpleNamespace(additional_config={"threads": 1, "nice": 0})
    threads.use_threads(worker.vllm_config)

    def upstream(self: object, output: Any) -> tuple[int, int]:
        return output.total_num_scheduled_tokens, torch.get_num_threads()

    monkeypatch.setattr("vllm.v1.worker.cpu_worker.CPUWorker.execute_model", upstream)
    yield lambda *tokens: [
        worker.execute_model(SimpleNamespace(total_num_scheduled_tokens=number))
        for number in tokens
    ]
    threads.all_threads.cache_clear()
    torch.set_num_threads(before)


def test_a_prompt_with_an_image_has_all_threads_and_answers_have_one(steps: Any) -> None:
    expected = [(1, 1), (620, MANY), (16, 1), (255, 1), (256, MANY), (0, 1)]
    assert steps(1, 620, 16, 255, 256, 0) == expected
