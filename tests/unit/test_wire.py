"""What goes over the wire, read back with vLLM's own code for the other end."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import pytest
import torch
from PIL import Image, ImageChops

from backend.engines.wire import encode_request, features, generate_request, read_rows
from backend.errors import EngineError
from backend.types import Sampling


def request(mask: list[bool] | None) -> Any:
    """A prompt with an image whose tokens are rows where `mask` says so, and four rows of it."""
    from vllm.inputs.engine import mm_input
    from vllm.multimodal.inputs import (
        MultiModalBatchedField,
        MultiModalFieldElem,
        MultiModalKwargsItem,
        MultiModalKwargsItems,
        PlaceholderRange,
    )

    rows = torch.arange(12, dtype=torch.bfloat16).reshape(4, 3)
    fields = {
        "bifocal_rows": MultiModalFieldElem(data=rows, field=MultiModalBatchedField()),
        "image_grid_thw": MultiModalFieldElem(
            data=torch.tensor([1, 4, 4]), field=MultiModalBatchedField(keep_on_cpu=True)
        ),
    }
    place = PlaceholderRange(2, len(mask or rows), torch.tensor(mask) if mask else None)
    kwargs: Any = MultiModalKwargsItems({"image": [MultiModalKwargsItem(fields)]})
    return mm_input([1, 2, *[7] * place.length, 3], kwargs, {"image": ["abc"]}, {"image": [place]})


def received(mask: list[bool] | None) -> tuple[Any, list[Any]]:
    """The features as vLLM's server reads them, and the fields of each item."""
    from vllm.entrypoints.scale_out.token_in_token_out.mm_features import mm_kwargs_from_features
    from vllm.entrypoints.scale_out.token_in_token_out.protocol import GenerateRequest

    body = generate_request(request(mask), Sampling(9, 0.5, 0.9, 3), "a-model", "an-id")
    read = GenerateRequest.model_validate(json.loads(body))
    assert (read.token_ids[:3], read.model, read.stream) == ([1, 2, 7], "a-model", True)
    assert (read.sampling_params.max_tokens, read.sampling_params.seed) == (9, 3)
    assert read.features
    return read.features, mm_kwargs_from_features(read.features)["image"]


def test_an_image_of_rows_alone_is_one_item() -> None:
    read, (item,) = received(None)
    assert [(p.offset, p.length) for p in read.mm_placeholders["image"]] == [(2, 4)]
    assert read.mm_hashes == {"image": ["abc"]}
    assert item["image_grid_thw"].data.tolist() == [1, 4, 4]
    assert item["image_grid_thw"].field.keep_on_cpu
    rows = item["bifocal_rows"].data
    assert rows.dtype == torch.bfloat16
    assert torch.equal(rows, torch.arange(12, dtype=torch.bfloat16).reshape(4, 3))


def test_an_image_with_breaks_is_an_item_for_each_run() -> None:
    """The endpoint has no mask: rows would land on the breaks."""
    read, items = received([False, True, True, False, True, True, False])
    places = [(p.offset, p.length) for p in read.mm_placeholders["image"]]
    assert places == [(3, 2), (6, 2)]
    assert read.mm_hashes == {"image": ["abc.0", "abc.1"]}
    rows = [item["bifocal_rows"].data.float().flatten().tolist() for item in items]
    assert rows == [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11]]


def test_a_part_of_the_rows_is_not_all_of_them_on_the_wire() -> None:
    whole = len(features(request(None))["kwargs_data"]["image"][0])
    first = features(request([True, False, True, True, True]))["kwargs_data"]["image"][0]
    assert len(first) < whole


def test_text_alone_has_no_features() -> None:
    from vllm.inputs.engine import tokens_input

    body = json.loads(generate_request(tokens_input([1, 2]), Sampling(), "m", "id"))
    assert "features" not in body


def test_a_picture_arrives_as_it_was() -> None:
    picture = Image.effect_noise((56, 28), 90).convert("RGB")
    body = json.loads(encode_request(picture, "digest", "m", "float32"))
    (part,) = body["messages"][0]["content"]
    assert part["uuid"] == "digest"
    file = io.BytesIO(base64.b64decode(part["image_url"]["url"].partition(",")[2]))
    assert ImageChops.difference(Image.open(file), picture).getbbox() is None


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_rows_as_vllm_writes_them(dtype: Any) -> None:
    from vllm.entrypoints.pooling.utils import encode_pooling_bytes
    from vllm.outputs import PoolingOutput, PoolingRequestOutput

    rows = torch.randn(5, 4).to(getattr(torch, dtype))
    output = PoolingRequestOutput("id", PoolingOutput(rows), [1], 0, True)
    (body,), items = encode_pooling_bytes([output], dtype, "little")
    assert torch.equal(read_rows(body, json.dumps({"data": items})), rows)


@pytest.mark.parametrize("metadata", ["", "{}", '{"data": []}', '{"data": [{"shape": [9, 9]}]}'])
def test_an_answer_of_something_else_is_told(metadata: str) -> None:
    with pytest.raises(EngineError, match="cannot be read"):
        read_rows(b"\0" * 16, metadata)
