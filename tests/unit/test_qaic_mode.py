"""QAIC's two modes: which one a model runs in, and the settings that a mode refuses."""

from typing import Any

import pytest

from backend.catalog import ROWS, ModelSpec
from backend.errors import SettingError
from backend.plan import Plan, make_plan
from backend.resolution import OwnResolution
from backend.settings import read_settings

QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"
LARGE = "Qwen/Qwen2.5-VL-32B-Instruct"


def planned(**flags: Any) -> Plan:
    return make_plan(read_settings({"target": "qaic", **flags}))


def refusal(**flags: Any) -> str:
    with pytest.raises(SettingError) as caught:
        planned(**flags)
    assert caught.value.code == "bad_setting"
    return caught.value.message


def test_eager_is_one_engine_on_pixels_without_buckets() -> None:
    made = planned(model=QWEN, qaic_mode="eager")
    assert (made.qaic_mode, made.topology) == ("eager", "fused")
    assert (made.heights, made.widths, made.buckets) == ((), (), ())
    assert made.resolution == OwnResolution()
    assert not made.one_bucket
    assert (made.seq_len, made.quantization, made.kv_cache_dtype) == (None, None, None)
    assert (made.ctx_len, made.decode_batch) == (4096, 4)
    assert "eager mode" in made.notes[0]


def test_tiles_are_looked_at_in_eager_mode_as_ever() -> None:
    made = planned(model="OpenGVLab/InternVL3_5-8B-Instruct")
    assert made.resolution == made.spec.resolution


def test_aot_is_two_engines_with_buckets() -> None:
    made = planned(model=QWEN, qaic_mode="aot")
    assert (made.qaic_mode, made.topology, made.eager_devices) == ("aot", "split", ())
    assert made.one_bucket
    assert made.notes == ()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_a_mode_is_the_rows_or_refused(row: ModelSpec) -> None:
    own = row.qaic_modes or (("aot",) if row.split else ("eager",))
    assert planned(model=row.key).qaic_mode == own[0]
    for mode in ("aot", "eager"):
        if mode in own:
            assert planned(model=row.key, qaic_mode=mode).qaic_mode == mode
        else:
            message = refusal(model=row.key, qaic_mode=mode)
            assert f"--qaic-mode {mode}" in message
            assert f"the mode {own[0]} alone" in message


def test_a_mode_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BIFOCAL_QAIC_MODE", "eager")
    assert planned(model=QWEN).qaic_mode == "eager"
    assert "--target qaic" in refusal(model=QWEN, target="cpu")


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_a_mode_on_another_target_is_refused(target: str) -> None:
    message = refusal(target=target, qaic_mode="aot")
    assert f"the target is {target}" in message
    assert planned(target=target).qaic_mode is None


def test_a_mode_that_nobody_knows() -> None:
    with pytest.raises(SettingError, match="'aot' or 'eager'"):
        read_settings({"qaic_mode": "jit"})


@pytest.mark.parametrize("pair", [{"heights": "364"}, {"widths": "532"}])
def test_sizes_cannot_be_compiled_in_eager_mode(pair: dict[str, str]) -> None:
    message = refusal(model=QWEN, qaic_mode="eager", **pair)
    assert "--heights and --widths" in message
    assert "--qaic-mode aot" in message


@pytest.mark.parametrize(
    ("flag", "value"), [("quantization", "mxfp6"), ("kv_cache_dtype", "mxint8")]
)
def test_number_types_of_what_is_compiled_are_refused_in_eager_mode(flag: str, value: str) -> None:
    assert value in refusal(model=QWEN, qaic_mode="eager", **{flag: value})
    assert getattr(planned(model=QWEN, qaic_mode="eager", **{flag: "fp8"}), flag) == "fp8"


@pytest.mark.parametrize("mode", ["aot", "eager"])
def test_a_type_that_the_cards_do_not_compute_in(mode: str) -> None:
    assert "float16 or float32" in refusal(model=QWEN, qaic_mode=mode, dtype="bfloat16")
    assert planned(model=QWEN, qaic_mode=mode, dtype="float32").dtype == "float32"


def test_one_engine_on_qaic_means_eager_mode() -> None:
    assert planned(model=QWEN, topology="fused").qaic_mode == "eager"
    assert "--topology" in refusal(model="gemma3", topology="fused")
    assert "exclude each other" in refusal(model=QWEN, topology="fused", qaic_mode="aot")


@pytest.mark.parametrize(
    ("vision", "language"),
    [("0", "0"), ("0,1", "1,2"), ("", "1"), ("0", ""), ("0,0", "1"), ("0", "1,2,1")],
)
def test_groups_that_two_engines_cannot_have(vision: str, language: str) -> None:
    message = refusal(model=QWEN, vision_devices=vision, language_devices=language)
    for words in ("--vision-devices", "--language-devices", "without a device in common"):
        assert words in message


def test_groups_may_differ_in_length() -> None:
    made = planned(model=QWEN, vision_devices="3", language_devices="0,1,2")
    assert (made.vision_devices, made.language_devices) == ((3,), (0, 1, 2))


def test_the_devices_of_the_one_engine() -> None:
    """As many as the plugin's table says, from the groups that are named or from the first on."""
    eager = {"qaic_mode": "eager"}
    assert planned(model=QWEN, **eager).eager_devices == (0,)
    made = planned(model=LARGE, **eager)
    assert (made.tensor_parallel_size, made.eager_devices) == (4, (0, 1, 2, 3))
    made = planned(model=LARGE, **eager, tensor_parallel_size=2)
    assert (made.tensor_parallel_size, made.eager_devices) == (2, (0, 1))
    made = planned(model=LARGE, **eager, vision_devices="4,5", language_devices="5,6,7")
    assert made.eager_devices == (4, 5, 6, 7)
    assert planned(model=LARGE, qaic_mode="aot").tensor_parallel_size == 1


def test_too_few_devices_for_the_one_engine() -> None:
    message = refusal(model=LARGE, qaic_mode="eager", vision_devices="4,5")
    for word in ("4 devices", "--vision-devices", "4,5", "at least 4"):
        assert word in message
    assert "(none)" in refusal(model=QWEN, qaic_mode="eager", language_devices="")


@pytest.mark.parametrize(("model", "told"), [(QWEN, False), ("bifocal-demo", True)])
def test_a_model_that_is_not_in_the_qaic_table_says_so(model: str, told: bool) -> None:
    notes = " ".join(planned(model=model).notes)
    assert ("none of the models that Qualcomm lists" in notes) is told
    assert "Qualcomm" not in " ".join(make_plan(read_settings({"target": "cpu"})).notes)
