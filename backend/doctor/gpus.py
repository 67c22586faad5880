"""NVIDIA GPUs: those of each engine, and how much of their memory is free."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from backend.doctor.finding import Finding, failed, ok, warning
from backend.doctor.program import NoAnswerError, ask, find_program
from backend.plan import Plan

QUERY = ("--query-gpu=index,name,memory.total,memory.free", "--format=csv,noheader,nounits")
"""As `nvidia-smi --help-query-gpu` has it; memory is in MiB."""
BUSY_SHARE = 0.2
"""Share of a GPU's memory that others may have before it is told."""


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU and its memory in MiB."""

    index: int
    name: str
    total: int
    free: int


def read_gpus(text: str) -> dict[int, Gpu]:
    """The GPUs that `nvidia-smi` tells of when it is asked QUERY."""
    gpus = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4 and all(fields[n].isdigit() for n in (0, 2, 3)):
            gpu = Gpu(int(fields[0]), fields[1], int(fields[2]), int(fields[3]))
            gpus[gpu.index] = gpu
    return gpus


def check_gpus(plan: Plan) -> Iterator[Finding]:
    """The GPUs of a plan for CUDA."""
    program = find_program("nvidia-smi")
    if program is None:
        yield failed("NVIDIA GPUs", "there is no nvidia-smi", "install NVIDIA's driver")
        return
    try:
        gpus = read_gpus(ask(program, *QUERY))
    except NoAnswerError as error:
        yield failed("NVIDIA GPUs", str(error), "run nvidia-smi by hand; restart after an update")
        return
    if not gpus:
        yield failed("NVIDIA GPUs", "nvidia-smi tells of none", "see whether the driver runs")
        return
    yield ok("NVIDIA GPUs", ", ".join(f"{gpu.index} {gpu.name}" for gpu in gpus.values()))
    groups = {
        "GPUs of the vision encoder": plan.vision_devices,
        "GPUs of the language decoder": plan.language_devices,
    }
    if plan.topology == "fused":
        groups = {"GPUs of the engine": plan.vision_devices}
    for name, group in groups.items():
        yield _group(name, group, plan.tensor_parallel_size, gpus)


def _group(name: str, group: tuple[int, ...], spanned: int, gpus: Mapping[int, Gpu]) -> Finding:
    missing = [index for index in group if index not in gpus]
    if missing:
        known = ",".join(map(str, gpus))
        return failed(
            name, f"there is no GPU {missing[0]}",
            f"choose among {known}; both engines may share one (--language-devices)",
        )  # fmt: skip
    if len(group) < spanned:
        return failed(
            name, f"{len(group)} GPU(s) for --tensor-parallel-size {spanned}", "name more of them"
        )
    for gpu in (gpus[index] for index in group):
        if gpu.free < gpu.total * (1 - BUSY_SHARE):
            return warning(
                name, f"GPU {gpu.index} has {gpu.free:,} of {gpu.total:,} MiB free",
                "end who uses it, or choose another one",
            )  # fmt: skip
    shown = ", ".join(f"{index} ({gpus[index].free:,} MiB free)" for index in group)
    return ok(name, shown)
