"""What goes over the wire between Bifocal and `vllm serve`: pictures, rows, prompts and tokens.

Requests are those of vLLM's own public endpoints (read in vLLM 0.32): `POST /pooling` with a chat
message, and `POST /inference/v1/generate` with token ids and features.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import torch
from vllm.multimodal.inputs import MultiModalFieldElem, MultiModalKwargsItem, PlaceholderRange
from vllm.v1.serial_utils import MsgpackEncoder

from backend.engines.language_only import ROWS
from backend.errors import EngineError
from backend.types import Sampling

if TYPE_CHECKING:
    from PIL.Image import Image

POOLING: Final = "/pooling"
GENERATE: Final = "/inference/v1/generate"
DTYPES: Final = {
    "float32": torch.float32,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
}


def encode_request(pixels: Image, digest: str, model: str, dtype: str) -> bytes:
    """A picture as JSON for POOLING; PNG keeps every pixel.

    The server's chat template writes the image's placeholder and nothing else, whatever the message
    says. `digest` names the content to vLLM. Rows are asked for as bytes of `dtype`.
    """
    file = io.BytesIO()
    # Pictures live for one request; the wire is faster than better compression.
    pixels.save(file, "PNG", compress_level=1)
    url = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    part = {"type": "image_url", "image_url": {"url": url}, "uuid": digest}
    body = {
        "model": model,
        "messages": [{"role": "user", "content": [part]}],
        "task": "token_embed",
        "use_activation": False,
        "encoding_format": "bytes",
        "embed_dtype": dtype,
        "endianness": "little",
    }
    return json.dumps(body).encode()


def read_rows(body: bytes, metadata: str) -> torch.Tensor:
    """The rows of one image, [visual tokens, width]; `metadata` is the header of that name.

    Raises EngineError for an answer that is something else.
    """
    try:
        (item,) = json.loads(metadata)["data"]
        shape, dtype = item["shape"], DTYPES[item["embed_dtype"]]
        return torch.frombuffer(bytearray(body), dtype=dtype).reshape(shape)
    except (ValueError, KeyError, TypeError, RuntimeError) as error:
        raise EngineError(
            f"The vision encoder's answer cannot be read ({type(error).__name__}): is the server "
            "started with the line that `engine-args --topology remote` prints?"
        ) from error


def generate_request(
    request: Mapping[str, Any], sampling: Sampling, model: str, request_id: str
) -> bytes:
    """A decoder's input, as `handover.decoder_input` makes it, as JSON for GENERATE."""
    body: dict[str, Any] = {
        "request_id": request_id,
        "model": model,
        "token_ids": list(request["prompt_token_ids"]),
        "sampling_params": _sampling(sampling),
        "stream": True,
        "output_mode": "text",
    }
    if "mm_kwargs" in request:
        body["features"] = features(request)
    return json.dumps(body).encode()


def features(request: Mapping[str, Any]) -> dict[str, Any]:
    """Hashes, places and fields of a decoder's input, in the endpoint's form.

    It knows a place by its start and length alone, so an image whose tokens are not all rows (such
    as one with row breaks) becomes one item for every run of them. The decoder's half takes nothing
    of an image but its rows; families whose positions need the grid have no such breaks.
    """
    hashes: list[str] = []
    places: list[dict[str, int]] = []
    fields: list[str] = []
    of_images = (request[name]["image"] for name in ("mm_hashes", "mm_placeholders", "mm_kwargs"))
    for digest, place, item in zip(*of_images, strict=True):
        for number, (run, part) in enumerate(_runs(place, item)):
            hashes.append(f"{digest}.{number}" if place.is_embed is not None else digest)
            places.append(run)
            fields.append(_packed(part))
    return {
        "mm_hashes": {"image": hashes},
        "mm_placeholders": {"image": places},
        "kwargs_data": {"image": fields},
    }


def _packed(item: MultiModalKwargsItem) -> str:
    """As vLLM's engines send it to each other, in one piece, in base64."""
    (piece,) = MsgpackEncoder(size_threshold=2**62).encode(item)
    return base64.b64encode(piece).decode()


def _runs(
    place: PlaceholderRange, item: MultiModalKwargsItem
) -> list[tuple[dict[str, int], MultiModalKwargsItem]]:
    """Each run of an image's rows: where it is, and its rows with the image's other fields."""
    rows = item[ROWS]
    found, done = [], 0
    for first, last in place.extract_embeds_range():
        length = last - first + 1
        # A copy: the encoder of messages would send all rows with each view of some.
        part = MultiModalFieldElem(data=rows.data[done : done + length].clone(), field=rows.field)
        found.append(
            ({"offset": first, "length": length}, MultiModalKwargsItem({**item, ROWS: part}))
        )
        done += length
    return found


def _sampling(sampling: Sampling) -> dict[str, Any]:
    """As vLLM's SamplingParams has them."""
    return {
        "max_tokens": sampling.max_tokens,
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "seed": sampling.seed,
        "stop_token_ids": list(sampling.stop_token_ids),
        "skip_special_tokens": sampling.skip_special_tokens,
        "extra_args": dict(sampling.extra_args) if sampling.extra_args else None,
    }
