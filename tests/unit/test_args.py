"""Engine arguments of the demo model, whole, and what settings change; QAIC has its own tests."""

from typing import Any

import pytest

from backend.engines.args import engine_args
from backend.errors import SettingError
from backend.plan import Plan, make_plan
from backend.settings import read_settings, repository

QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"
DEMO = str(repository() / "assets" / "demo_model")
SIZE = {"shortest_edge": 364 * 532, "longest_edge": 728 * 1288}
MIB = 1024 * 1024


def arguments(**flags: Any) -> dict[str, dict[str, Any]]:
    return engine_args(make_plan(read_settings(flags)))


def test_demo_split_on_the_cpu() -> None:
    common = {
        "model": DEMO,
        "max_model_len": 16384,
        "seed": 0,
        "load_format": "auto",
        "tensor_parallel_size": 1,
        "trust_remote_code": False,
        "mm_processor_cache_gb": 0,
        "disable_log_stats": True,
        "use_tqdm_on_load": False,
        "mm_processor_kwargs": {"size": SIZE},
        "dtype": "bfloat16",
        "enforce_eager": True,
        "worker_extension_cls": "backend.engines.census.Census",
    }
    assert arguments(target="cpu", dtype="bfloat16") == {
        "vision": {
            **common,
            "runner": "pooling",
            "mm_encoder_only": True,
            "skip_mm_profiling": True,
            "hf_overrides": {
                "architectures": ["BifocalVision__Qwen2_5_VLForConditionalGeneration"]
            },
            "kv_cache_memory_bytes": 64 * MIB,
            "max_num_seqs": 4,
            "max_num_batched_tokens": 4784,  # four images of the largest bucket, 1196 tokens
            "limit_mm_per_prompt": {"image": 1, "video": 0, "audio": 0},
            "async_scheduling": False,
            "enable_prefix_caching": False,
        },
        "language": {
            **common,
            "hf_overrides": {
                "architectures": ["BifocalLanguage__Qwen2_5_VLForConditionalGeneration"]
            },
            "kv_cache_memory_bytes": 512 * MIB,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 16384,
            "additional_config": {"threads": 1, "nice": 8},
            "worker_cls": "backend.engines.cpu_worker.SmallDecoderWorker",
            "max_num_seqs": 16,
            "limit_mm_per_prompt": {"image": 0, "video": 0, "audio": 0},
            "enable_mm_embeds": True,
            "enable_prefix_caching": True,
        },
    }


def test_demo_fused_on_the_cpu() -> None:
    assert arguments(target="cpu", topology="fused", dtype="float32") == {
        "fused": {
            "model": DEMO,
            "max_model_len": 16384,
            "seed": 0,
            "load_format": "auto",
            "tensor_parallel_size": 1,
            "trust_remote_code": False,
            "mm_processor_cache_gb": 0,
            "disable_log_stats": True,
            "use_tqdm_on_load": False,
            "mm_processor_kwargs": {"size": SIZE},
            "dtype": "float32",
            "enforce_eager": True,
            "kv_cache_memory_bytes": 512 * MIB,
            "enable_chunked_prefill": False,
            "max_num_batched_tokens": 16384,
            "max_num_seqs": 16,
            "limit_mm_per_prompt": {"image": 8, "video": 0, "audio": 0},
        }
    }


def test_options_of_the_decoder_are_only_there_when_set() -> None:
    """vLLM's own defaults hold otherwise, and None is not always one of them."""
    language = arguments(target="cpu")["language"]
    assert not {"quantization", "kv_cache_dtype", "long_prefill_token_threshold"} & set(language)
    roles = arguments(target="cuda", quantization="fp8", kv_cache_dtype="fp8", seq_len=128)
    assert roles["language"]["quantization"] == "fp8"
    assert roles["language"]["kv_cache_dtype"] == "fp8"
    assert roles["language"]["long_prefill_token_threshold"] == 128
    assert "quantization" not in roles["vision"]


def test_a_prompt_is_read_in_one_step_on_the_cpu() -> None:
    """vLLM's CPU engine ends when a request with a seed is read in parts."""
    for roles in (arguments(target="cpu", ctx_len=1500), arguments(target="cpu", topology="fused")):
        args = roles.get("language") or roles["fused"]
        assert args["enable_chunked_prefill"] is False
        assert args["max_num_batched_tokens"] >= args["max_model_len"]
    with pytest.raises(SettingError, match="--seq-len"):
        arguments(target="cpu", seq_len=128)


def test_the_vision_engine_has_room_for_a_batch_of_the_largest_bucket() -> None:
    vision = arguments(target="cpu", heights="364", widths="532", vision_batch=1)["vision"]
    assert vision["max_num_batched_tokens"] == 2048
    vision = arguments(target="cpu", heights="1792", widths="1792", vision_batch=3)["vision"]
    assert vision["max_num_batched_tokens"] == 3 * 4096


def test_two_engines_on_one_gpu_share_its_memory() -> None:
    shared = arguments(target="cuda", model=QWEN, vision_devices="0", language_devices="0")
    assert shared["language"]["gpu_memory_utilization"] == 0.75
    apart = arguments(target="cuda", model=QWEN)
    assert "gpu_memory_utilization" not in apart["language"]
    assert "enforce_eager" not in apart["language"]


def test_every_value_can_be_written_as_json() -> None:
    import json

    for target in ("cpu", "cuda", "qaic"):
        json.dumps(arguments(target=target))


def test_a_plan_is_enough(plan: Plan) -> None:
    assert set(engine_args(plan)) == {"vision", "language"}
