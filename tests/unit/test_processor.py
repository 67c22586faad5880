"""What type a processor computes in quickly."""

from pathlib import Path

import pytest

from backend import processor
from backend.plan import make_plan
from backend.processor import cpu_dtype, multiplies_bfloat16
from backend.settings import read_settings

AVX2 = "processor\t: 0\nflags\t\t: fpu sse sse2 avx avx2 fma f16c\n"
AVX512 = "flags\t\t: fpu avx2 avx512f avx512bw avx512_vnni\n"
COOPER_LAKE = "flags\t\t: fpu avx2 avx512f avx512_bf16\n"
SAPPHIRE_RAPIDS = "flags\t\t: fpu avx2 avx512f amx_bf16 amx_tile\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd i8mm bf16\nCPU part\t: 0xd40\n"
OLD_ARM = "Features\t: fp asimd evtstrm\n"
NAMED_SO = "model name\t: bf16 amx_bf16\nflags\t\t: fpu\n"


@pytest.mark.parametrize(
    ("cpuinfo", "expected"),
    [
        (AVX2, False),
        (AVX512, False),
        (COOPER_LAKE, True),
        (SAPPHIRE_RAPIDS, True),
        (ARM, True),
        (OLD_ARM, False),
        (NAMED_SO, False),
        ("", False),
    ],
)
def test_bfloat16_is_found_among_the_flags(cpuinfo: str, expected: bool) -> None:
    assert multiplies_bfloat16(cpuinfo) is expected


@pytest.mark.parametrize(("cpuinfo", "expected"), [(AVX2, "float32"), (SAPPHIRE_RAPIDS, None)])
def test_a_processor_without_it_computes_in_float32(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cpuinfo: str, expected: str | None
) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(cpuinfo)
    monkeypatch.setattr(processor, "CPUINFO", file)
    assert cpu_dtype() == expected
    assert make_plan(read_settings({"target": "cpu"})).dtype == expected
    assert make_plan(read_settings({"target": "cuda"})).dtype is None
    assert make_plan(read_settings({"target": "cpu", "dtype": "bfloat16"})).dtype == "bfloat16"


def test_where_the_system_does_not_tell_the_model_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processor, "CPUINFO", tmp_path / "none")
    assert cpu_dtype() is None
