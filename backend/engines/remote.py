"""Vision encoder and language decoder over `vllm serve`: the same two protocols, over HTTP.

A picture is still rendered here, by vLLM's own processor and without weights: that gives the tokens
it takes in a prompt and the fields that positions need. The server's processor does the same again
for the pixels, which travel as PNG; its answer is checked against what was rendered.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, ClassVar, cast

from prometheus_client import Metric
from vllm.renderers import BaseRenderer, renderer_from_config

from backend.catalog.spec import ModelSpec
from backend.engines.chat_tokenizer import ChatTokenizer
from backend.engines.fleet import Fleet
from backend.engines.handover import RenderedImage, decoder_input, take_rows
from backend.engines.protocols import Chunk, PreparedImage
from backend.engines.remote_server import RemoteServer, servers_of
from backend.engines.seams import seams_of
from backend.engines.serve_args import served_name, wire_dtype
from backend.engines.server_faults import LONGEST, ServerDownError, ServerError
from backend.engines.wire import GENERATE, POOLING, encode_request, generate_request, read_rows
from backend.plan import Plan
from backend.prompts import Prompt, Tokenizer, image_token_ids
from backend.types import Embedding, FinishReason, Sampling


class RemoteEngine:
    """The servers of one role and their common life."""

    name: ClassVar[str]
    role: ClassVar[str]
    endpoint: ClassVar[str]

    def __init__(self, plan: Plan, config: Any) -> None:
        """`config` is a VllmConfig of the model for the renderer alone. Asks no server yet."""
        self._spec: ModelSpec = plan.spec
        self._served = served_name(plan, self.role)
        self.fleet = Fleet(self.name, servers_of(plan, self.role), self.endpoint)
        self._model_config = config.model_config
        self._renderer: BaseRenderer = renderer_from_config(config)

    @property
    def detail(self) -> str:
        """Which servers are down while others answer."""
        return self.fleet.trouble

    async def check_health(self) -> None:
        await self.fleet.look()

    async def parameters(self) -> dict[str, int]:
        """Nothing: servers do not tell."""
        return {}

    @property
    def unfinished(self) -> int:
        return self.fleet.unfinished

    def metrics(self) -> Iterable[Metric]:
        return self.fleet.metrics()

    def kill(self) -> None:
        """Servers are others' to end; whoever waits for one is told."""
        self.fleet.drop()

    def shutdown(self) -> None:
        """End the connections, which ends our requests in the servers."""
        self.fleet.close()
        self._renderer.shutdown()


class RemoteVisionEncoder(RemoteEngine):
    """One image a request; the server batches what arrives together."""

    name, role, endpoint = "vision encoder", "vision", POOLING

    def __init__(self, plan: Plan, config: Any) -> None:
        super().__init__(plan, config)
        self._dtype = wire_dtype(plan)
        self._width: int = self._model_config.get_hidden_size()
        self._placeholder = image_token_ids(plan.spec, self._renderer.get_tokenizer())

    async def encode(self, image: PreparedImage) -> Embedding:
        """One image's rows; `encode_s` is from rendering to the checked answer.

        Closing the connection, as cancelling does, aborts it in the server. Raises EngineError.
        """
        started = time.perf_counter()
        rendered = await RenderedImage.render(self._renderer, self._placeholder, image)
        body = await asyncio.to_thread(
            encode_request, image.pixels, image.digest, self._served, self._dtype
        )
        answer = await self.fleet.send(partial(self._rows, body))
        rows = take_rows(answer, rendered.place, self._width)
        took = time.perf_counter() - started
        return image.embedded(self._spec.key, rows, took, rendered=rendered.without_pixels())

    async def _rows(self, body: bytes, server: RemoteServer) -> Any:
        async with server.waiting():
            answer = await self.fleet.client.post(
                server.address.url + POOLING,
                content=body,
                headers={"Content-Type": "application/json", **server.headers()},
            )
        server.check(answer, answer.content)
        return read_rows(answer.content, answer.headers.get("metadata", ""))


class RemoteLanguageDecoder(RemoteEngine):
    """Text and image rows to a server, tokens from it."""

    name, role, endpoint = "language decoder", "language", GENERATE

    def __init__(self, plan: Plan, config: Any) -> None:
        super().__init__(plan, config)
        tokenizer = self._renderer.get_tokenizer()
        self.tokenizer: Tokenizer = cast(Tokenizer, ChatTokenizer(tokenizer, self._model_config))
        self._seams = seams_of(plan.spec, tokenizer)

    async def generate(
        self,
        prompt: Prompt,
        images: Sequence[Embedding] | Sequence[PreparedImage],
        sampling: Sampling,
    ) -> AsyncGenerator[Chunk, None]:
        """The answer as it grows. Closing the iterator closes the connection, which aborts it in
        the server. Raises EngineError, InputError.
        """
        request = decoder_input(prompt, cast(Sequence[Embedding], images), self._seams)
        body = await asyncio.to_thread(
            generate_request, request, sampling, self._served, f"generate-{uuid.uuid4().hex}"
        )
        prompt_tokens, tokens = len(request["prompt_token_ids"]), 0
        async with aclosing(self.fleet.stream(partial(self._chunks, body))) as pieces:
            async for choice in pieces:
                tokens += len(choice.get("token_ids") or ())
                yield Chunk(
                    choice.get("text", ""),
                    tokens,
                    prompt_tokens,
                    cast(FinishReason | None, choice.get("finish_reason")),
                )

    async def _chunks(
        self, body: bytes, server: RemoteServer
    ) -> AsyncGenerator[dict[str, Any], None]:
        """The choices of the server's events, until it says that this was all."""
        client = self.fleet.client
        headers = {"Content-Type": "application/json", **server.headers()}
        sending = client.build_request(
            "POST", server.address.url + GENERATE, content=body, headers=headers
        )
        async with server.waiting():
            answer = await client.send(sending, stream=True)
        try:
            if answer.status_code != 200:
                async with server.waiting():
                    await answer.aread()
                server.check(answer, answer.content)
            lines = answer.aiter_lines()
            while True:
                async with server.waiting():
                    line = await anext(lines, None)
                if line is None:
                    raise ServerDownError(f"{server.what} ended the answer before it was complete.")
                if line == "data: [DONE]":
                    return
                if line.startswith("data: "):
                    for choice in _choices(line.removeprefix("data: "), server):
                        yield choice
        finally:
            await answer.aclose()


def _choices(data: str, server: RemoteServer) -> list[dict[str, Any]]:
    event = json.loads(data)
    if "error" in event:
        raise ServerError(
            f"{server.what} could not go on with the answer: ask once more; what it said is in the "
            "log.",
            str(event["error"])[:LONGEST],
            may_pass=True,
        )
    return list(event.get("choices", ()))
