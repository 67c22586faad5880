"""All that the doctor looks at, in order."""

from __future__ import annotations

from collections.abc import Iterator

from backend.doctor.cards import check_cards
from backend.doctor.finding import Finding
from backend.doctor.gpus import check_gpus
from backend.doctor.machine import (
    check_files,
    check_memory,
    check_platform,
    check_servers,
    check_sizes,
    check_vllm_version,
)
from backend.plan import Plan


def examine(plan: Plan) -> Iterator[Finding]:
    """One finding after the other; starts no engine."""
    yield check_vllm_version()
    yield check_platform(plan)
    if plan.topology == "remote":
        yield from check_servers(plan)
    elif plan.target == "qaic":
        yield from check_cards(plan)
    elif plan.target == "cuda":
        yield from check_gpus(plan)
    yield check_memory(plan)
    yield check_files(plan)
    yield check_sizes(plan)
