"""How a GPU's memory is shared out between both engines, and what is said where it does not fit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backend.engines import gpu_memory
from backend.engines.args import LEAST_SHARE, engine_args
from backend.engines.gpu_share import (
    DECODER_WORK,
    ENCODER_WORK,
    GIB,
    Weights,
    kv_cache_bytes,
    kv_cache_per_token,
)
from backend.engines.weights import checkpoint_parameters
from backend.errors import EngineError
from backend.plan import Plan, make_plan
from backend.settings import read_settings, repository

QWEN_7B = {
    "text_config": {
        "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
        "hidden_size": 3584,
    }
}  # fmt: skip
H200 = 140 * GIB
DEMO = repository() / "assets" / "demo_model"


def test_weights_are_told_apart_by_name() -> None:
    sizes = {
        "visual.blocks.0.attn.qkv.weight": 1, "vision_tower.layer": 2, "multi_modal_projector.x": 4,
        "model.layers.0.mlp.weight": 8, "lm_head.weight": 16, "language_model.model.embed": 32,
    }  # fmt: skip
    assert Weights.of(sizes) == Weights(vision=7, language=56)


def test_a_token_of_qwen_7b_takes_56_kib() -> None:
    assert kv_cache_per_token(QWEN_7B, 2) == 28 * 2 * 4 * 128 * 2 == 56 * 1024
    assert kv_cache_per_token({}, 2) == 0
    assert kv_cache_per_token({"num_hidden_layers": 2, "num_attention_heads": 4, "head_dim": 8}, 2)


def test_the_decoder_gets_what_is_left() -> None:
    weights = Weights(2 * GIB, 14 * GIB)
    left = kv_cache_bytes("A model", weights, (H200, H200 - 2 * GIB), span=1, least=GIB)
    assert left == H200 - 2 * GIB - int(0.03 * H200) - 16 * GIB - ENCODER_WORK - DECODER_WORK


def test_weights_spread_over_two_gpus_leave_more() -> None:
    weights = Weights(2 * GIB, 14 * GIB)
    one, two = (kv_cache_bytes("A model", weights, (H200, H200), span, GIB) for span in (1, 2))
    assert two - one == 8 * GIB


@pytest.mark.parametrize("free", [20 * GIB, 0])
def test_what_does_not_fit_is_told_with_what_would(free: int) -> None:
    weights = Weights(2 * GIB, 14 * GIB)
    with pytest.raises(EngineError) as caught:
        kv_cache_bytes("Qwen2.5-VL 7B", weights, (24 * GIB, free), span=1, least=GIB)
    told = caught.value.message
    assert "need about 26 GiB (16.0 for weights, 8 to work with, 1.0 for one context)" in told
    assert f"{free // GIB} of 24 GiB are free" in told
    assert "--language-devices 1" in told and "--ctx-len" in told


def cuda_plan(**flags: Any) -> Plan:
    chosen = {"target": "cuda", "vision_devices": "0", "language_devices": "0", **flags}
    return make_plan(read_settings(chosen))


@pytest.fixture
def gpus(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Two GPUs; the second has less free."""
    found = [(H200, H200), (H200, H200 - 30 * GIB)]
    monkeypatch.setattr(gpu_memory, "devices", lambda: found)
    return found


def test_both_engines_on_one_gpu_have_explicit_sizes(gpus: list[tuple[int, int]]) -> None:
    first, second = (
        gpu_memory.shared_memory(cuda_plan(vision_devices=gpu, language_devices=gpu))
        for gpu in ("0", "1")
    )
    assert first["gpu_memory_utilization"] == LEAST_SHARE
    assert first["kv_cache_memory_bytes"] - second["kv_cache_memory_bytes"] == 30 * GIB


@pytest.mark.parametrize(
    "flags", [{"language_devices": "1"}, {"kv_cache_mb": 1024}, {"model": "qwen2_5_vl"}]
)
def test_elsewhere_it_is_vllms_to_say(gpus: list[tuple[int, int]], flags: dict[str, Any]) -> None:
    """Apart, with a size that somebody chose, or with weights that are still to be downloaded."""
    assert gpu_memory.shared_memory(cuda_plan(**flags)) == {}


def test_a_gpu_that_is_not_there(gpus: list[tuple[int, int]]) -> None:
    plan = cuda_plan(vision_devices="7", language_devices="7")
    with pytest.raises(EngineError, match="no GPU 7 here, only 2"):
        gpu_memory.shared_memory(plan)


def test_a_size_that_somebody_chose_is_the_decoders() -> None:
    args = engine_args(cuda_plan(kv_cache_mb=2048))
    assert args["language"]["kv_cache_memory_bytes"] == 2048 * 2**20
    assert args["vision"]["gpu_memory_utilization"] == LEAST_SHARE
    cpu = engine_args(make_plan(read_settings({"target": "cpu", "kv_cache_mb": 99})))
    assert cpu["language"]["kv_cache_memory_bytes"] == 99 * 2**20


def test_the_tower_is_replayed_for_every_number_of_images_of_one_bucket() -> None:
    graphs = engine_args(cuda_plan(vision_batch=2))["vision"]["compilation_config"]
    assert graphs["encoder_cudagraph_token_budgets"] == [247, 494, 576, 1152, 1196, 2392]
    assert graphs["encoder_cudagraph_max_vision_items_per_batch"] == 2
    assert "compilation_config" not in engine_args(cuda_plan())["language"]


def test_the_parameters_of_a_checkpoint(tmp_path: Path) -> None:
    assert checkpoint_parameters(DEMO) == 9_366_272
    assert checkpoint_parameters(tmp_path) == 0
    assert json.loads((DEMO / "config.json").read_text("utf-8"))
