"""Engine arguments that a row brings: which engine is given them."""

from typing import Any

from backend.catalog import get_model
from backend.engines.args import engine_args
from backend.plan import make_plan
from backend.settings import read_settings


def arguments(**flags: Any) -> dict[str, dict[str, Any]]:
    return engine_args(make_plan(read_settings(flags)))


def test_a_rows_arguments_reach_the_fused_engine() -> None:
    fused = arguments(target="cuda", model="step3", topology="fused")["fused"]
    assert fused["tensor_parallel_size"] == 8
    assert fused["max_num_batched_tokens"] == 4096
    assert fused["gpu_memory_utilization"] == 0.85
    assert fused["reasoning_parser"] == "step3"
    assert "hf_overrides" not in fused
    changed = arguments(target="cuda", model="tarsier2")["fused"]["hf_overrides"]
    assert changed["model_type"] == "tarsier2"


def test_halves_keep_the_rows_other_changes_to_the_config() -> None:
    roles = arguments(target="cuda", model="stepvl")
    for role, prefix in (("vision", "BifocalVision__"), ("language", "BifocalLanguage__")):
        assert roles[role]["hf_overrides"] == {
            "vision_config": {"enable_patch": False},
            "architectures": [prefix + "StepVLForConditionalGeneration"],
        }
    assert "reasoning_parser" not in roles["vision"]
    assert roles["language"]["reasoning_parser"] == "deepseek_r1"


def test_what_an_answer_needs_is_not_given_to_the_vision_engine() -> None:
    roles = arguments(target="cuda", model="deepseek_ocr")
    assert "logits_processors" not in roles["vision"]
    assert roles["language"]["logits_processors"] == [
        "vllm.model_executor.models.deepseek_ocr:NGramPerReqLogitsProcessor"
    ]
    idefics = arguments(target="cuda", model="idefics3")
    for args in idefics.values():
        assert args["mm_processor_kwargs"] == {"size": {"longest_edge": 728}}
        assert args["enforce_eager"] is True


def test_an_adapter_runs_in_one_engine() -> None:
    roles = arguments(target="cuda", model="phi4_mm")
    assert list(roles) == ["fused"]
    assert (roles["fused"]["enable_lora"], roles["fused"]["max_lora_rank"]) == (True, 320)


def test_pictures_of_unknown_size_have_the_whole_context_in_the_vision_engine() -> None:
    """An image of more tokens than a step takes would never be scheduled."""
    vision = arguments(target="cuda", model="llava-next")["vision"]
    assert vision["max_num_batched_tokens"] == 8192


def test_marks_beside_an_images_rows_have_room_in_the_vision_engine() -> None:
    """Idefics3 writes more tokens than rows; a step of 5 x 169 would not take a whole image."""
    vision = arguments(target="cuda", model="idefics3", vision_batch=1)["vision"]
    assert vision["max_num_batched_tokens"] == 8192


def test_a_tokenizer_mode_that_vllm_has_no_more_is_left_out() -> None:
    """Aria's document has slow tokenizers; vLLM 0.32 refuses to start with one."""
    assert get_model("aria").tokenizer_mode == "slow"
    roles = arguments(target="cuda", model="aria", topology="fused")
    assert "tokenizer_mode" not in roles["fused"]
    assert roles["fused"]["dtype"] == "bfloat16"
