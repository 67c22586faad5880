"""Compiled sizes that cannot work are refused before an engine starts, saying what to change."""

import dataclasses

import pytest
from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

from backend import plan as plan_module
from backend.bucket_checks import (
    CONTROL_TOKENS,
    check_buckets,
    check_own_sizes,
    check_pairs,
    refuse_pairs,
    refuse_twin,
)
from backend.buckets import DynamicResolution
from backend.catalog import ModelSpec, get_model
from backend.engines.args import engine_args
from backend.errors import SettingError
from backend.placement import Bucket
from backend.plan import Plan, make_plan
from backend.resolution import FixedResolution, TiledResolution
from backend.settings import read_settings

SMALL, LARGE = Bucket(364, 532, (364, 532), 247), Bucket(728, 1288, (728, 1280), 1196)
FIXED = FixedResolution(336, 336, 576)


def refusal(check: object, *arguments: object) -> str:
    with pytest.raises(SettingError) as caught:
        check(*arguments)  # type: ignore[operator]
    assert caught.value.code == "bad_setting"
    return caught.value.message


def planned(spec: ModelSpec, monkeypatch: pytest.MonkeyPatch, **flags: object) -> Plan:
    """A plan of a row that is in no catalogue."""
    monkeypatch.setattr(plan_module, "get_model", lambda name: spec)
    return make_plan(read_settings({"target": "cuda", **flags}))


def row(**changes: object) -> ModelSpec:
    return dataclasses.replace(get_model("qwen2_5_vl"), key="tests/own", **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("heights", "widths", "words"),
    [
        ((364, 512), (532,), ["--heights", "--widths", "2 heights", "1 widths"]),
        ((), (), ["0 heights"]),
        ((364, -1), (532, 910), ["pixels", "positive"]),
        ((0,), (532,), ["positive"]),
    ],
    ids=str,
)
def test_pairs(heights: tuple[int, ...], widths: tuple[int, ...], words: list[str]) -> None:
    message = refusal(check_pairs, heights, widths)
    assert all(word in message for word in words)


def test_equal_positive_lists_are_pairs() -> None:
    check_pairs((364, 512), (532, 910))


def test_two_buckets_of_one_number_of_tokens() -> None:
    message = refusal(refuse_twin, Bucket(532, 364, (532, 364), 247), [LARGE, SMALL])
    for word in ("364x532", "532x364", "247 visual tokens", "--heights", "--widths"):
        assert word in message
    refuse_twin(LARGE, [SMALL])


def test_the_context_must_hold_the_largest_bucket_and_a_prompt() -> None:
    assert CONTROL_TOKENS == 64
    check_buckets([SMALL, LARGE], 1260, None)
    message = refusal(check_buckets, [LARGE, SMALL], 1259, None)
    for word in ("728x1288", "1196", "64", "1259", "--ctx-len", "--heights"):
        assert word in message


def test_one_step_of_the_engine_must_hold_the_largest_bucket() -> None:
    check_buckets([SMALL, LARGE], 4096, 1196)
    message = refusal(check_buckets, [SMALL, LARGE], 4096, 1195)
    for word in ("728x1288", "1196", "1195", "max_num_batched_tokens", "encoder cache", "--widths"):
        assert word in message


def test_a_family_of_its_own_size_has_no_pairs_to_change() -> None:
    sizes = FIXED.sizes()
    check_own_sizes(sizes, 640, 576)
    for limits, words in (
        ((639, None), ["576", "639", "--ctx-len"]),
        ((4096, 575), ["576", "575"]),
    ):
        message = refusal(check_own_sizes, sizes, *limits)
        assert all(word in message for word in words)
        assert "--heights" not in message


def test_a_tiled_family_is_asked_for_its_smallest_picture_alone() -> None:
    """3,328 tokens of 12 tiles and a thumbnail do not fit, but 256 of a single tile do."""
    sizes = TiledResolution().sizes()
    check_own_sizes(sizes, 320, None)
    assert "256" in refusal(check_own_sizes, sizes, 319, None)


def test_the_label_is_in_the_refusal_of_pairs() -> None:
    message = refusal(refuse_pairs, "LLaVA")
    for word in ("LLaVA", "no dynamic resolution", "--heights", "--widths"):
        assert word in message


@pytest.mark.parametrize(
    "resolution", [FIXED, TiledResolution(), None], ids=lambda it: type(it).__name__
)
@pytest.mark.parametrize("given", [{"heights": "364"}, {"widths": "532"}], ids=str)
def test_pairs_for_a_family_without_dynamic_resolution(
    resolution: object, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = row(resolution=resolution, heights=(), widths=())
    assert "dynamic resolution" in refusal(lambda: planned(spec, monkeypatch, **given))
    assert planned(spec, monkeypatch).heights == ()


def test_a_rows_batched_tokens_limit_its_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = row(engine_args={"max_num_batched_tokens": 1195})
    assert "1195" in refusal(lambda: planned(spec, monkeypatch))
    planned(row(engine_args={"max_num_batched_tokens": 1196}), monkeypatch)


def test_a_rows_context_limits_a_family_of_its_own_size(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = row(resolution=FIXED, heights=(), widths=())
    assert "639" in refusal(lambda: planned(spec, monkeypatch, ctx_len=639))
    assert planned(spec, monkeypatch, ctx_len=640).ctx_len == 640


@pytest.mark.parametrize("target", ["cpu", "cuda", "qaic"])
@pytest.mark.parametrize("vision_batch", [1, 4])
def test_no_engine_is_given_a_step_smaller_than_its_largest_image(
    target: str, vision_batch: int
) -> None:
    made = make_plan(
        read_settings(
            {"target": target, "heights": "1400", "widths": "1400", "vision_batch": vision_batch}
        )
    )
    (bucket,) = made.buckets
    assert bucket.tokens == 2500
    for arguments in engine_args(made).values():
        assert arguments.get("max_num_batched_tokens", 2500) >= 2500


@pytest.mark.parametrize("heights", ["364,512,728", "1092,56,3584"])
def test_the_models_own_processor_leaves_every_bucket_as_it_is(heights: str) -> None:
    """The bundled model's processor shrinks above 1,280 visual tokens, and its picture was encoded
    with fewer tokens than its bucket has."""
    widths = "532,910,1280" if heights.startswith("364") else "1540,56,3584"
    made = make_plan(
        read_settings({"target": "cpu", "heights": heights, "widths": widths, "ctx_len": 32768})
    )
    for arguments in engine_args(made).values():
        limits = arguments["mm_processor_kwargs"]["size"]
        for bucket in made.buckets:
            size = (bucket.height, bucket.width)
            assert smart_resize(*size, 28, limits["shortest_edge"], limits["longest_edge"]) == size


def test_a_row_without_compiled_sizes_has_a_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = row(resolution=DynamicResolution(), heights=(), widths=())
    assert planned(spec, monkeypatch).buckets == ()
    assert "0 heights" in refusal(lambda: planned(spec, monkeypatch, heights="", widths=""))
