"""Three `vllm serve` on this machine, started as printed: two encoders and a decoder.

The lines are `engine-args --topology remote`'s. Where openssl can make a certificate one encoder
speaks TLS; elsewhere both are plain, and the one test of the certificate is skipped. The tests go
on from each other's state: the last one kills the decoder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import pytest_asyncio
from PIL import Image

from backend.engines.loader import EngineLoader
from backend.errors import EngineError
from backend.plan import make_plan
from backend.service import Bifocal
from backend.settings import read_settings, repository
from backend.types import ChatRequest, Event, ImageInput, TokenEvent
from tests.browser.conftest import endless_copy
from tests.certificate import can_make, make_certificate
from tests.engine.asking import ask, question, saved, seeded
from tests.engine.conftest import started
from tests.engine.servers import KEY, VllmServer, end, free_ports, printed_lines
from tests.readme import LANGUAGE, OTHER_VISION, VISION, at, command
from tests.unit.eventually import until
from ui.command_line.parser import build_parser, setting_flags

pytestmark = pytest.mark.timeout(400)

BACK_S = 200


@dataclass(frozen=True)
class Servers:
    """The processes, where they are, and the line that starts the decoder.

    The second encoder speaks TLS if its address begins with `https`.
    """

    encoder: VllmServer
    other_encoder: VllmServer
    decoder: VllmServer
    vision_urls: tuple[str, str]
    language_url: str
    decoder_line: str


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("servers")
    ports = free_ports(3)
    scheme = "https" if can_make() else "http"
    urls = f"http://127.0.0.1:{ports[0]}", f"{scheme}://127.0.0.1:{ports[1]}"
    language_url = f"http://127.0.0.1:{ports[2]}"
    lines = printed_lines(urls[0], language_url)
    encoder = VllmServer(lines["vision"], folder / "encoder.log")
    decoder = VllmServer(lines["language"], folder / "decoder.log")
    more = ["--port", str(ports[1])]
    with pytest.MonkeyPatch.context() as patch:
        if can_make():
            certificate, key = map(str, make_certificate(folder))
            more += ["--ssl-certfile", certificate, "--ssl-keyfile", key]
            patch.setenv("SSL_CERT_FILE", certificate)
        other_encoder = VllmServer(lines["vision"], folder / "other_encoder.log", *more)
        all_of_them = (encoder, other_encoder, decoder)
        try:
            for server in all_of_them:
                server.start()
            for server, url in zip(all_of_them, (*urls, language_url), strict=True):
                server.wait(url)
            yield Servers(*all_of_them, urls, language_url, lines["language"])
        finally:
            end(all_of_them)


@pytest.fixture
def tls_url(servers: Servers) -> str:
    """Where the encoder that speaks TLS is."""
    if not servers.vision_urls[1].startswith("https"):
        pytest.skip("openssl is not installed")
    return servers.vision_urls[1]


@pytest_asyncio.fixture(scope="module")
async def remote(servers: Servers) -> AsyncIterator[Bifocal]:
    """The backend of the README's command for a cluster."""
    one, other = servers.vision_urls
    words = at(
        command("Scaling", OTHER_VISION),
        {VISION: one, OTHER_VISION: other, LANGUAGE: servers.language_url},
    )
    flags = setting_flags(build_parser().parse_args(words[1:]))
    backend = await started(**flags, vision_api_key=KEY, language_api_key=KEY)
    yield backend
    await backend.shutdown()


def fault(role: str, **flags: object) -> EngineError:
    """What keeps the engine of a role from being there."""
    plan = make_plan(read_settings({"topology": "remote", **flags}))
    with pytest.raises(EngineError) as caught:
        EngineLoader()(plan, role, give_up)
    return caught.value


def give_up(doing: str) -> None:
    """Waits for no server."""
    if doing.startswith("The "):
        raise EngineError(doing)


@pytest.mark.parametrize("chosen", [[], [0], [1], [0, 2], [2, 1, 0], [1, 1]])
async def test_servers_answer_as_the_engines_here_do(
    remote: Bifocal, split: Bifocal, pictures: list[ImageInput], chosen: list[int]
) -> None:
    request = question("Describe each image.", [pictures[index] for index in chosen])
    there, here = await ask(remote, request), await ask(split, request)
    assert (there.text, there.usage, there.finish_reason) == (
        here.text, here.usage, here.finish_reason,
    )  # fmt: skip
    assert [image.as_json()["bucket"] for image in there.images] == [
        image.as_json()["bucket"] for image in here.images
    ]
    assert (there.topology, here.topology) == ("remote", "split")


async def test_embeddings_are_the_same_bit_for_bit(
    remote: Bifocal, split: Bifocal, pictures: list[ImageInput]
) -> None:
    import torch

    request = question("Describe each image.", [pictures[1]])
    await ask(remote, request)
    await ask(split, request)
    (there,), (here,) = (list(app._cache._entries.values())[-1:] for app in (remote, split))
    assert there.sha256 == here.sha256
    assert torch.equal(there.features.float(), here.features.float())


async def test_sampling_with_a_seed_is_the_same(
    remote: Bifocal, split: Bifocal, pictures: list[ImageInput]
) -> None:
    request = seeded(pictures[0])
    assert (await ask(remote, request)).text == (await ask(split, request)).text


def counted(app: Bifocal, metric: str, role: str) -> dict[str, float]:
    """A counter of vLLM's in the servers of a role, by the server's number, such as `1`."""
    found: dict[str, float] = {}
    for line in app.metrics().splitlines():
        if line.startswith(metric) and 'server="' in line and f'role="{role}"' in line:
            server = line.partition('server="')[2].partition('"')[0]
            found[server] = found.get(server, 0.0) + float(line.rpartition(" ")[2])
    return found


async def test_both_encoders_are_used(remote: Bifocal, tmp_path: Path) -> None:
    """Six new pictures at once, three to each."""
    new = [
        saved(tmp_path, f"{n}.png", Image.effect_noise((640, 480), 60 + n).convert("RGB"))
        for n in range(6)
    ]
    name = "vllm:request_success_total"
    before = counted(remote, name, "vision")
    result = await ask(remote, question("What is the content of each image?", new))
    assert not any(image.cached for image in result.images)

    def both() -> bool:
        now = counted(remote, name, "vision")
        return all(now.get(number, 0) - before.get(number, 0) >= 2 for number in ("1", "2"))

    await until(both, 20)


async def test_wrong_servers_are_told(servers: Servers) -> None:
    urls = {"vision_url": servers.vision_urls[0], "language_url": servers.language_url}
    keys = {"vision_api_key": KEY, "language_api_key": KEY}
    swapped = {"vision_url": servers.language_url, "language_url": servers.vision_urls[0]}
    for flags, words in (
        ({**urls, "vision_api_key": "other"}, "the key is wrong"),
        (urls, "it asks for a key"),
        ({**swapped, **keys}, "serves bifocal-demo.language, not bifocal-demo.vision"),
        ({**urls, **keys, "vision_url": "https" + urls["vision_url"][4:]}, "does not speak TLS"),
        ({**urls, **keys, "vision_url": "http://127.0.0.1:9"}, "cannot be reached"),
    ):
        error = await asyncio.to_thread(fault, "vision", **flags)
        assert words in error.message
        assert error.message.startswith("The vision server ")
        assert KEY not in error.message
        assert "127.0.0.1" not in error.message
    long = await asyncio.to_thread(fault, "language", ctx_len=16385, **urls, **keys)
    assert "context of 16384 tokens" in long.message


async def test_a_certificate_that_is_not_trusted(
    tls_url: str, servers: Servers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    flags = {"vision_url": tls_url, "language_url": servers.language_url}
    error = await asyncio.to_thread(fault, "vision", vision_api_key=KEY, **flags)
    assert "certificate that is not trusted" in error.message
    assert "127.0.0.1" not in error.message


async def test_one_encoder_goes_and_comes_back(
    remote: Bifocal, servers: Servers, tmp_path: Path
) -> None:
    """The other one does its work meanwhile, and nobody notices but who looks."""
    servers.encoder.kill()
    for number in range(3):
        new = saved(tmp_path, f"{number}.png", Image.effect_noise((99, 64), 9).convert("RGB"))
        result = await ask(remote, question("Describe the image.", [new]))
        assert not result.images[0].cached
    await until(lambda: "1 of 2 servers answer" in details(remote, "vision"), 20)
    assert remote.health().status == "ready"
    assert "Vision server 1 of 2 cannot be reached" in details(remote, "vision")
    assert "127.0.0.1" not in details(remote, "vision")
    servers.encoder.start()
    await until(lambda: details(remote, "vision") == "", BACK_S)


def details(app: Bifocal, role: str) -> str:
    return str(app.health().as_json().get("details", {}).get(role, ""))


async def listen(app: Bifocal, request: ChatRequest, heard: list[Event]) -> None:
    async for event in app.stream(request):
        heard.append(event)


async def test_the_decoder_goes_away_and_comes_back(
    remote: Bifocal, servers: Servers, tmp_path: Path
) -> None:
    """While idle, and then in the middle of an answer; whoever asks meanwhile is answered."""
    servers.decoder.kill()
    await until(lambda: remote.health().status == "degraded", 20)
    assert "cannot be reached" in details(remote, "language")
    waiting = asyncio.create_task(ask(remote, question("What can you do?", max_tokens=4)))
    # The same model without an end to its answers, so that there is time to leave and to kill.
    model = endless_copy(repository() / "assets" / "demo_model", tmp_path)
    line = servers.decoder_line.replace(str(repository() / "assets" / "demo_model"), str(model))
    servers.decoder.start(line)
    async with asyncio.timeout(BACK_S):
        assert (await waiting).usage.completion_tokens == 4
    assert remote.health().status == "ready"

    heard: list[Event] = []
    long = question("Describe this image.", max_tokens=4000)
    leaving = asyncio.create_task(listen(remote, long, heard))
    await until(lambda: any(isinstance(event, TokenEvent) for event in heard), 60)
    running = "vllm:num_requests_running"
    await until(lambda: leaving.done() or counted(remote, running, "language").get("1") == 1, 30)
    assert not leaving.done(), leaving
    leaving.cancel()
    await until(lambda: counted(remote, running, "language").get("1") == 0, 30)

    heard.clear()
    asking = asyncio.create_task(listen(remote, long, heard))
    await until(lambda: any(isinstance(event, TokenEvent) for event in heard), 60)
    servers.decoder.kill()
    with pytest.raises(EngineError, match="went away in the middle of the answer: ask once more"):
        async with asyncio.timeout(20):
            await asking
    await until(lambda: remote.health().status == "degraded", 20)
