"""Every row against what its document has, for 1, 2 and 12 images.

The expected values in `golden/` are data, written out from the documents.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from backend.catalog import ROWS, get_model
from backend.catalog.example_images import EXAMPLE_IMAGE_URLS
from backend.plan import make_plan
from backend.request_preview import preview_request
from backend.settings import read_settings, repository
from backend.types import ImageInput, Method, Turn

GOLDEN = Path(__file__).parent / "golden"
QUESTION = "What is the content of each image?"


def read(name: str) -> dict[str, dict[str, Any]]:
    values: dict[str, dict[str, Any]] = json.loads((GOLDEN / name).read_text("utf-8"))
    return values


VLLM, QAIC, BIFOCAL = read("vllm_example.json"), read("qaic_document.json"), read("bifocal.json")
CASES = [
    (key, images, target, values)
    for golden, target in ((VLLM, "cpu"), (QAIC, "qaic"), (BIFOCAL, "cpu"))
    for key, counts in golden.items()
    for images, values in counts.items()
]


def preview(key: str, images: int, method: Method = "generate", **flags: Any) -> dict[str, Any]:
    settings = read_settings({"model": key, "target": "cpu", **flags})
    inputs = tuple(ImageInput(url, "url") for url in EXAMPLE_IMAGE_URLS[:images])
    turn = Turn("user", QUESTION, inputs)
    return preview_request(make_plan(settings), settings, turn, method).as_json()


@pytest.mark.parametrize(
    ("key", "images", "target", "expected"), CASES, ids=[f"{c[0]}-{c[1]}-{c[2]}" for c in CASES]
)
def test_a_request_is_what_the_document_has(
    key: str, images: str, target: str, expected: dict[str, Any]
) -> None:
    found = preview(key, int(images), target=target)
    if get_model(key).bundled:
        expected["engine_args"]["model"] = str(repository() / expected["engine_args"]["model"])
    assert found == expected


def test_every_row_has_golden_values() -> None:
    """A row without them is a row that nobody has compared with its document."""
    written = {get_model(key).key for key in (*VLLM, *QAIC, *BIFOCAL)}
    assert written == {row.key for row in ROWS}
    assert {row.key for row in ROWS if "vllm" in row.origins} == set(VLLM)
    assert {row.hf_id for row in ROWS if "qaic" in row.origins} == set(QAIC)
    assert {row.key for row in ROWS if "bifocal" in row.origins} == set(BIFOCAL)


def test_values_are_written_for_1_2_and_12_images() -> None:
    for golden in (VLLM, QAIC, BIFOCAL):
        assert all(list(counts) == ["1", "2", "12"] for counts in golden.values())
    assert (len(VLLM), len(QAIC)) == (42, 7)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_chat_hands_over_parts_and_turns_other_modalities_off(row: Any) -> None:
    """As `LLM.chat` is called: images by address, and limits of 0 for video and audio."""
    found = preview(row.key, 2, "chat")
    one, two = EXAMPLE_IMAGE_URLS[:2]
    assert found["messages"] == [
        {
            "role": "user",
            "content": [
                {"type": "image_url", "image_url": {"url": one}},
                {"type": "image_url", "image_url": {"url": two}},
                {"type": "text", "text": QUESTION},
            ],
        }
    ]
    limits = found["engine_args"]["limit_mm_per_prompt"]
    assert limits == {"image": 2, "video": 0, "audio": 0}
    assert found["template"] in {"tokenizer", "processor", "override"}


def test_a_chat_template_of_the_row_is_enough_to_know_the_prompt() -> None:
    """Images are counted as vLLM writes them in a message of plain text, one a line."""
    found = preview("qwen_vl_chat", 2, "chat")
    assert found["template"] == "override"
    assert found["prompt"] == (
        "<|im_start|>user\nPicture 1: <img></img>\nPicture 2: <img></img>\n"
        f"{QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    )


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.key)
def test_what_a_person_sets_wins_over_every_row(row: Any) -> None:
    found = preview(row.key, 1, seed=7, tensor_parallel_size=3, ctx_len=9000)
    assert found["engine_args"]["seed"] == found["sampling"]["seed"] == 7
    assert found["engine_args"]["tensor_parallel_size"] == 3
    assert found["engine_args"]["max_model_len"] == 9000


def test_a_row_of_both_documents_is_the_examples_off_the_cards() -> None:
    assert preview("gemma3", 1)["engine_args"]["max_model_len"] == 8192
    assert preview("google/gemma-3-4b-it", 1, target="qaic")["engine_args"]["max_model_len"] == 4096
    assert preview("Qwen/Qwen2.5-VL-7B-Instruct", 1)["engine_args"]["quantization"] == "mxfp6"


def test_the_mode_that_is_asked_for_decides_on_qaic() -> None:
    args = preview("Qwen/Qwen2.5-VL-7B-Instruct", 1, target="qaic", qaic_mode="eager")[
        "engine_args"
    ]
    assert args["enforce_eager"] is True
    assert not {"quantization", "additional_config", "enable_mm_embeds"} & set(args)


def test_typed_braces_stay_in_the_prompt() -> None:
    settings = read_settings({"model": "aria", "target": "cpu"})
    typed = "{placeholders} {question} {0} \ue0000\ue001"
    turn = Turn("user", typed)
    found = preview_request(make_plan(settings), settings, turn, "generate").as_json()
    assert found["prompt"] == f"<|im_start|>user\n{typed}<|im_end|>\n<|im_start|>assistant\n"


def test_the_bundled_models_own_template_is_at_hand(tokenizer: Any) -> None:
    settings = read_settings({"target": "cpu"})
    turn = Turn("user", "Why <|im_end|>?", (ImageInput("a.png", "path"),))
    found = preview_request(make_plan(settings), settings, turn, "chat", tokenizer)
    assert found.prompt == (
        "<|im_start|>user\n<|vision_start|><|image_pad|><|vision_end|>Why <|im_end|>?<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
