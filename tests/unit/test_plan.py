"""Plan: a value set explicitly wins over the row's, which wins over the target's default."""

import json
from pathlib import Path

import pytest

from backend.bucket_checks import CONTROL_TOKENS
from backend.catalog import ROWS, ModelSpec
from backend.errors import SettingError
from backend.plan import Plan, make_plan, refuse_remote_code
from backend.resolution import OwnResolution
from backend.settings import read_settings

QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"


def planned(**flags: object) -> Plan:
    return make_plan(read_settings(flags))


def test_the_demo_model_on_the_cpu() -> None:
    made = planned(target="cpu")
    assert (made.model, made.target, made.topology) == ("bifocal-demo", "cpu", "split")
    assert (made.heights, made.widths) == ((364, 512, 728), (532, 910, 1280))
    assert made.ctx_len == 16384
    assert made.seq_len is None
    assert (made.quantization, made.kv_cache_dtype) == (None, None)
    assert (made.vision_devices, made.language_devices) == ((0,), (1,))
    assert made.tensor_parallel_size == 1


def test_qaic_defaults() -> None:
    made = planned(target="qaic", model=QWEN)
    assert (made.seq_len, made.ctx_len) == (128, 4096)
    assert (made.vision_batch, made.decode_batch) == (4, 4)
    assert (made.quantization, made.kv_cache_dtype) == ("mxfp6", "mxint8")


def test_the_row_holds_elsewhere() -> None:
    made = planned(target="cuda", model=QWEN)
    assert (made.seq_len, made.ctx_len, made.max_images) == (None, 32768, 12)
    assert (made.quantization, made.kv_cache_dtype) == (None, None)


def test_an_explicit_value_wins_over_row_and_target() -> None:
    made = planned(
        target="qaic",
        model=QWEN,
        seq_len=256,
        ctx_len=8192,
        vision_batch=2,
        decode_batch=3,
        quantization="fp8",
        kv_cache_dtype="auto",
        heights="364",
        widths="532",
        max_images=1,
        vision_devices="4,5",
        language_devices="6",
        tensor_parallel_size=2,
        seed=7,
        fit="pad",
        load_format="dummy",
    )
    assert (made.seq_len, made.ctx_len, made.vision_batch, made.decode_batch) == (256, 8192, 2, 3)
    assert (made.quantization, made.kv_cache_dtype) == ("fp8", "auto")
    assert (made.heights, made.widths, made.max_images) == ((364,), (532,), 1)
    assert (made.vision_devices, made.language_devices) == ((4, 5), (6,))
    assert (made.tensor_parallel_size, made.seed, made.fit) == (2, 7, "pad")
    assert made.load_format == "dummy"


@pytest.mark.parametrize(
    ("vision", "language"), [("0", "0"), ("0,1", "1,2"), ("3,1", "1"), ("", "1"), ("0", "")]
)
def test_overlapping_or_empty_device_groups_are_refused_on_qaic(vision: str, language: str) -> None:
    with pytest.raises(SettingError) as caught:
        planned(target="qaic", vision_devices=vision, language_devices=language)
    assert "--vision-devices" in caught.value.message
    assert "--language-devices" in caught.value.message


def test_one_gpu_may_hold_both_engines() -> None:
    assert planned(target="cuda", vision_devices="0", language_devices="0").language_devices == (0,)


def test_a_bucket_too_large_for_the_context_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        planned(target="cpu", ctx_len=1200)
    for word in ("728x1288", "1196", "1200", "--ctx-len"):
        assert word in caught.value.message


def test_a_context_that_just_holds_the_largest_bucket() -> None:
    assert CONTROL_TOKENS == 64
    assert planned(target="cpu", ctx_len=1260).ctx_len == 1260
    with pytest.raises(SettingError):
        planned(target="cpu", ctx_len=1259)


def test_the_context_of_a_folder_is_checked_too(tmp_path: Path) -> None:
    """Only the catalogue's own rows may skip the check; a folder brings its own context length."""
    config = {
        "architectures": ["Qwen2_5_VLForConditionalGeneration"],
        "text_config": {"max_position_embeddings": 1024},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(SettingError, match="1024"):
        planned(target="cpu", model=str(tmp_path))


@pytest.mark.parametrize(
    ("heights", "widths"), [("364", "532,910"), ("364,532", "532,364"), ("0", "532"), ("", "")]
)
def test_wrong_buckets_are_refused_before_an_engine_starts(heights: str, widths: str) -> None:
    with pytest.raises(SettingError):
        planned(target="cpu", heights=heights, widths=widths)


def test_heights_alone_are_paired_with_the_rows_widths() -> None:
    with pytest.raises(SettingError, match="2 heights and 3 widths"):
        planned(target="cpu", heights="364,512")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_rows_pass_the_check_that_plans_skip_for_them(row: ModelSpec) -> None:
    """`make_plan` trusts the rows, because checking imports transformers before the page is up."""
    resolution = row.resolution or OwnResolution()
    tokens = [size.tokens for size in resolution.sizes(row.heights, row.widths)]
    least = (max if resolution.has_buckets else min)(tokens, default=0)
    assert least + CONTROL_TOKENS <= row.ctx_len


@pytest.mark.parametrize("target", ["cpu", "cuda", "qaic"])
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_every_row_has_a_plan_on_every_target(row: ModelSpec, target: str) -> None:
    made = planned(target=target, model=row.key)
    assert made.spec == row
    assert made.target == target


def test_auto_means_the_cpu_where_the_cpu_build_is_installed() -> None:
    assert planned().target == "cpu"


def test_a_model_without_halves_runs_fused_and_says_so() -> None:
    made = planned(target="cuda", model="phi4_mm")
    assert made.topology == "fused"
    assert made.notes == (
        "Phi-4 Multimodal Instruct cannot be split: it runs as one fused engine.",
    )


def test_who_asks_for_one_engine_is_told_nothing() -> None:
    assert planned(target="cpu", topology="fused").notes == ()
    assert planned(target="cpu").notes == ()


def test_a_model_with_an_eager_mode_alone_is_fused_on_qaic_only() -> None:
    name = "OpenGVLab/InternVL3_5-8B-Instruct"
    made = planned(target="qaic", model=name)
    assert (made.topology, made.quantization, made.ctx_len) == ("fused", None, 4096)
    assert "eager mode" in made.notes[0]
    assert planned(target="cuda", model=name).topology == "split"


def test_a_derived_row_says_so_with_every_answer(tmp_path: Path) -> None:
    config = {"architectures": ["Qwen2_5_VLForConditionalGeneration"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    made = planned(target="cpu", model=str(tmp_path))
    assert "not in the catalogue" in made.notes[0]


def test_a_models_own_code_runs_only_where_that_is_allowed() -> None:
    refuse_remote_code(planned(target="cpu", model="llava"))
    refuse_remote_code(planned(target="cpu", model="h2ovl_chat", trust_remote_code=True))
    with pytest.raises(SettingError, match="--trust-remote-code") as caught:
        refuse_remote_code(planned(target="cpu", model="h2ovl_chat"))
    assert (caught.value.code, caught.value.exit_status) == ("bad_setting", 2)


def test_the_rows_devices_unless_others_are_asked_for() -> None:
    assert planned(target="cuda", model="llama4").tensor_parallel_size == 8
    assert planned(target="cuda", model="llama4", tensor_parallel_size=4).tensor_parallel_size == 4


def test_the_method_is_the_rows() -> None:
    assert planned(target="cpu", model="deepseek_ocr").method == "generate"
    assert planned(target="cpu").method == "chat"
