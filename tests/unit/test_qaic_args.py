"""Engine arguments on QAIC, whole, for every model of the QAIC table in every mode it has.

The expected values in `golden/qaic_arguments.json` are data, written out from the plugin's code,
examples and documentation.
"""

import argparse
import io
import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from backend.catalog import ROWS
from backend.engines.args import engine_args
from backend.plan import make_plan
from backend.settings import read_settings, repository
from ui.command_line import engine_args as command
from ui.command_line.output import Output

GOLDEN: dict[str, dict[str, Any]] = json.loads(
    (Path(__file__).parent / "golden" / "qaic_arguments.json").read_text("utf-8")
)
CASES = [(model, mode) for model, modes in GOLDEN.items() for mode in modes]
QWEN = "Qwen/Qwen2.5-VL-7B-Instruct"


def arguments(**flags: Any) -> dict[str, dict[str, Any]]:
    return engine_args(make_plan(read_settings({"target": "qaic", **flags})))


def printed(**flags: Any) -> str:
    answer = io.StringIO()
    settings = read_settings({"target": "qaic", **flags})
    command.run(argparse.Namespace(), settings, Output(answer, as_json=False))
    return answer.getvalue()


def commands(**flags: Any) -> list[list[str]]:
    """The printed commands, as a shell would take them apart."""
    lines = printed(**flags).splitlines()
    return [shlex.split(line) for line in lines if line and not line.startswith("#")]


@pytest.mark.parametrize(("model", "mode"), CASES)
def test_the_complete_arguments(model: str, mode: str) -> None:
    assert arguments(model=model, qaic_mode=mode) == GOLDEN[model][mode]


def test_every_mode_of_every_model_of_the_table_is_written_out() -> None:
    listed = {row.hf_id: list(row.qaic_modes) for row in ROWS if "qaic" in row.origins}
    assert {model: list(modes) for model, modes in GOLDEN.items()} == listed
    assert (len(GOLDEN), len(CASES)) == (7, 10)


@pytest.mark.parametrize("model", GOLDEN)
def test_the_rows_first_mode_is_the_default(model: str) -> None:
    assert arguments(model=model) == next(iter(GOLDEN[model].values()))


def test_no_row_puts_devices_where_they_would_win_over_the_group() -> None:
    for row in ROWS:
        for args in arguments(model=row.key).values():
            config = args.get("additional_config", {}).get("override_qaic_config", {})
            assert not {"device_group", "device_id", "device_ids", "num_devices"} & set(config)


def test_the_demo_model_has_qwens_arguments() -> None:
    expected = json.loads(json.dumps(GOLDEN[QWEN]["aot"]))
    for args in expected.values():
        args["model"] = str(repository() / "assets" / "demo_model")
        args["limit_mm_per_prompt"]["image"] = 8
    assert arguments() == expected


def test_settings_reach_both_engines() -> None:
    roles = arguments(
        model=QWEN, vision_devices="4", language_devices="6,7,5", heights="364,512",
        widths="532,910", seq_len=256, ctx_len=8192, vision_batch=2, decode_batch=3, max_images=1,
        seed=7, tensor_parallel_size=2, load_format="dummy", dtype="float16",
        trust_remote_code=True,
    )  # fmt: skip
    vision, language = roles["vision"], roles["language"]
    assert vision["additional_config"]["device_group"] == [4]
    assert language["additional_config"]["device_group"] == [6, 7, 5]
    assert (vision["max_num_seqs"], language["max_num_seqs"]) == (2, 3)
    for args in roles.values():
        sizes = args["additional_config"]["override_qaic_config"]
        assert (sizes["height"], sizes["width"]) == ([364, 512], [532, 910])
        assert (args["long_prefill_token_threshold"], args["max_model_len"]) == (256, 8192)
        assert (args["limit_mm_per_prompt"]["image"], args["seed"]) == (1, 7)
        assert (args["tensor_parallel_size"], args["load_format"]) == (2, "dummy")
        assert (args["dtype"], args["trust_remote_code"]) == ("float16", True)


def test_number_types_that_are_set_are_the_decoders_alone() -> None:
    roles = arguments(model=QWEN, quantization="fp8", kv_cache_dtype="auto")
    assert not {"quantization", "kv_cache_dtype", "enable_mm_embeds"} & set(roles["vision"])
    assert roles["language"]["quantization"] == "fp8"
    assert roles["language"]["kv_cache_dtype"] == "auto"


def test_settings_reach_the_eager_engine() -> None:
    fused = arguments(
        model=QWEN, qaic_mode="eager", decode_batch=2, ctx_len=8192, seq_len=64, max_images=3
    )["fused"]
    assert (fused["max_num_seqs"], fused["max_model_len"]) == (2, 8192)
    assert fused["long_prefill_token_threshold"] == 64
    assert fused["limit_mm_per_prompt"]["image"] == 3


def test_a_rows_own_arguments_reach_the_engines() -> None:
    roles = arguments(model="stepvl")
    for args in roles.values():
        assert args["hf_overrides"] == {"vision_config": {"enable_patch": False}}
    assert "reasoning_parser" not in roles["vision"]
    assert roles["language"]["reasoning_parser"] == "deepseek_r1"
    assert arguments(model="idefics3")["vision"]["mm_processor_kwargs"] == {
        "size": {"longest_edge": 728}
    }


def test_two_lines_for_a_shell_with_json_in_one_word_each() -> None:
    for role, words in zip(("vision", "language"), commands(model=QWEN), strict=True):
        assert words[:3] == ["vllm", "serve", QWEN]
        for name in ("additional_config", "limit_mm_per_prompt", "mm_processor_kwargs"):
            value = json.loads(words[words.index("--" + name.replace("_", "-")) + 1])
            assert value == GOLDEN[QWEN]["aot"][role][name]
        assert "--no-enable-prefix-caching" in words
    vision, language = commands(model=QWEN)
    assert "--no-async-scheduling" in vision
    assert vision[vision.index("--runner") + 1] == "pooling"
    assert language[language.index("--quantization") + 1] == "mxfp6"
    assert "--enable-mm-embeds" in language


def test_two_engines_on_one_machine_listen_on_two_ports() -> None:
    ports = [words[words.index("--port") + 1] for words in commands(model=QWEN)]
    assert ports == ["8000", "8001"]
    assert "--port" not in printed(model=QWEN, qaic_mode="eager")


def test_an_eager_engine_gets_its_devices_from_the_environment() -> None:
    (words,) = commands(model="Qwen/Qwen3-VL-32B-Instruct", qaic_mode="eager")
    assert words[:3] == ["QAIC_VISIBLE_DEVICES=0,1,2,3", "vllm", "serve"]
    (words,) = commands(model=QWEN, qaic_mode="eager", vision_devices="5", language_devices="7,5")
    assert words[0] == "QAIC_VISIBLE_DEVICES=5,7"


def test_what_must_be_known_before_running_the_lines() -> None:
    """A variable left over from eager mode would put both compiled engines on the same devices."""
    compiled = printed(model=QWEN)
    assert compiled.startswith("# QAIC_VISIBLE_DEVICES must not be set")
    assert "QAIC_VISIBLE_DEVICES" not in printed(model=QWEN, target="cuda")
    assert "code of its own" in printed(model="OpenGVLab/InternVL2_5-1B")
    assert "code of its own" not in compiled
