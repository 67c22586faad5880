"""The endpoints as programs use them: `gradio_client`, and plain HTTP."""

import asyncio
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError

from tests.browser.images_server import ImageServer

RESULT = {
    "text", "finish_reason", "model", "target", "topology", "method", "images", "usage", "timings",
    "notes",
}  # fmt: skip
IMAGE = {"source", "width", "height", "sha256", "cached", "notes", "bucket"}
BUCKET = {"height", "width", "compiled", "tokens", "fit", "aspect_change"}
CANDIDATE = {
    "height", "width", "compiled", "tokens", "effective_pixels", "wasted_pixels", "chosen",
}  # fmt: skip


@pytest.fixture(scope="module")
async def client(ready_app: str) -> Client:
    return await asyncio.to_thread(Client, ready_app, verbose=False)


async def _all(client: Client, **arguments: Any) -> list[Any]:
    def collect() -> list[Any]:
        job = client.submit(api_name="/ask", **arguments)
        results = list(job)
        job.result()  # raises what went wrong; iterating does not
        return results

    return await asyncio.to_thread(collect)


async def test_ask_streams_the_result_object(client: Client, pictures: Path) -> None:
    images = [handle_file(str(pictures / "circle.png"))]
    results = await _all(client, images=images, prompt="Describe it.", max_tokens=200)
    texts = [result["text"] for result in results]
    assert len(set(texts)) >= 3
    assert all(late.startswith(early) for early, late in pairwise(texts))
    assert {result["finish_reason"] for result in results[:-1]} == {None}

    last = results[-1]
    assert last["finish_reason"] in ("stop", "length")
    assert set(last) == RESULT
    assert (last["model"], last["topology"]) == ("bifocal-demo", "split")
    assert set(last["usage"]) == {"prompt_tokens", "image_tokens", "completion_tokens"}
    assert last["usage"]["image_tokens"] == 247
    assert set(last["timings"]) == {
        "fetch_s", "prepare_s", "queue_s", "encode_s", "ttft_s", "decode_s", "total_s",
    }  # fmt: skip
    (image,) = last["images"]
    assert set(image) == IMAGE
    assert set(image["bucket"]) == BUCKET
    assert (image["source"], image["width"], image["height"]) == ("circle.png", 532, 364)
    assert image["bucket"]["compiled"] == [364, 532]


async def test_ask_by_address(client: Client, image_server: ImageServer) -> None:
    address = image_server.url("square.png")
    results = await _all(client, image_urls=address, prompt="What is this?", max_tokens=8)
    assert results[-1]["images"][0]["width"] == 400


async def test_bucket_is_one_entry_of_buckets_json(client: Client, pictures: Path) -> None:
    image = handle_file(str(pictures / "portrait.png"))
    entry = await asyncio.to_thread(client.predict, image, api_name="/bucket")
    assert set(entry) == IMAGE | {"candidates", "why", "warnings", "ctx_len"}
    assert entry["bucket"]["tokens"] == 1196
    assert entry["bucket"]["aspect_change"] == pytest.approx(2.5858, abs=1e-4)
    assert [set(candidate) for candidate in entry["candidates"]] == [CANDIDATE] * 3
    assert [candidate["chosen"] for candidate in entry["candidates"]] == [False, False, True]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"prompt": " "}, "bad_request"),
        ({"prompt": "x", "temperature": 9}, "bad_request"),
        ({"prompt": "x", "max_tokens": 1.5}, "bad_setting"),
        ({"prompt": "x", "image_urls": "ftp://example.org/a.png"}, "url_refused"),
        ({"prompt": "What is this? " * 9000}, "prompt_too_long"),
    ],
)
async def test_an_error_is_code_and_message(
    client: Client, arguments: dict[str, Any], code: str
) -> None:
    with pytest.raises(AppError, match=rf"^{code}: \S"):
        await _all(client, **arguments)


async def test_a_file_that_is_no_picture(client: Client, pictures: Path) -> None:
    image = handle_file(str(pictures / "broken.png"))
    with pytest.raises(AppError, match=r"^image_unreadable: "):
        await asyncio.to_thread(client.predict, image, api_name="/bucket")


async def test_only_two_endpoints_are_shown(client: Client) -> None:
    shown = await asyncio.to_thread(client.view_api, return_format="dict", print_info=False)
    assert set(shown["named_endpoints"]) == {"/ask", "/bucket"}
    assert not shown["unnamed_endpoints"]


async def _call(app: str, endpoint: str, data: list[Any]) -> str:
    """What plain HTTP answers: the text of the event stream."""
    async with httpx.AsyncClient(timeout=60) as http:
        url = f"{app}/gradio_api/call/{endpoint}"
        event = (await http.post(url, json={"data": data})).json()["event_id"]
        return (await http.get(f"{url}/{event}")).text


async def test_plain_http(ready_app: str) -> None:
    answer = await _call(ready_app, "ask", [None, "", "Who are you?", "", 0, 1, 8, 0])
    last = json.loads(answer.split("event: complete\ndata: ")[1].splitlines()[0])
    assert last[0]["finish_reason"] in ("stop", "length")


@pytest.mark.parametrize("kind", ["file", "address"])
async def test_only_uploaded_files_are_read(
    ready_app: str, pictures: Path, image_server: ImageServer, kind: str
) -> None:
    """A mounted Gradio page read any file of the machine that a request named."""
    path = str(pictures / "circle.png") if kind == "file" else image_server.url("circle.png")
    before = len(image_server.seen)
    file = {"path": path, "meta": {"_type": "gradio.FileData"}}
    answer = await _call(ready_app, "bucket", [file])
    assert "event: error" in answer
    assert image_server.seen[before:] == []


async def test_health_has_the_contracts_body(ready_app: str) -> None:
    async with httpx.AsyncClient() as http:
        answer = await http.get(f"{ready_app}/health")
    assert answer.status_code == 200
    body = answer.json()
    assert set(body) == {"status", "engines", "model", "target", "topology"}
    assert set(body["engines"]) == {"vision", "language"}
