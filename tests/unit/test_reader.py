"""The reader: what was fetched stands for its address for a while."""

from pathlib import Path

import pytest

from backend.errors import InputError
from backend.intake import reader as module
from backend.intake.limits import IntakeLimits
from backend.intake.reader import Reader
from backend.types import ImageInput

LIMITS = IntakeLimits(1000, 1000, 1.0, False, (80, 443))
PICTURE = ImageInput("http://pictures.example/a.png", "url")


class Web:
    """Stands for the network: counts fetches, and can be taken down."""

    def __init__(self) -> None:
        self.fetches, self.up = 0, True

    def read(self, image: ImageInput, limits: IntakeLimits) -> bytes:
        if not self.up:
            raise InputError("url_failed", "gone")
        self.fetches += 1
        return f"{image.location} {self.fetches}".encode()


@pytest.fixture
def web(monkeypatch: pytest.MonkeyPatch) -> Web:
    web = Web()
    monkeypatch.setattr(module, "read", web.read)
    return web


def test_a_follow_up_does_not_need_the_address_again(web: Web) -> None:
    reader = Reader(LIMITS)
    first = reader.read(PICTURE)
    web.up = False
    assert reader.read(PICTURE) == first
    assert web.fetches == 1


def test_it_is_forgotten_after_half_an_hour(web: Web) -> None:
    now = [100.0]
    reader = Reader(LIMITS, lambda: now[0])
    reader.read(PICTURE)
    now[0] += 30 * 60 + 1
    assert reader.read(PICTURE).endswith(b" 2")


def test_a_failed_fetch_is_not_kept(web: Web) -> None:
    reader = Reader(LIMITS)
    web.up = False
    with pytest.raises(InputError):
        reader.read(PICTURE)
    web.up = True
    assert reader.read(PICTURE).endswith(b" 1")


def test_the_oldest_goes_when_the_bytes_are_too_many(
    web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each body is 31 bytes: two fit into 70, the third pushes the first out."""
    monkeypatch.setattr(module, "KEEP_BYTES", 70)
    reader = Reader(LIMITS)
    addresses = [ImageInput(f"http://pictures.example/{n}.png", "url") for n in "abc"]
    for address in addresses:
        reader.read(address)
    reader.read(addresses[2])
    assert web.fetches == 3
    reader.read(addresses[0])
    assert web.fetches == 4


def test_data_addresses_are_not_kept(web: Web) -> None:
    """They are their own content; keeping it would push out what was fetched."""
    reader = Reader(LIMITS)
    for _ in range(2):
        reader.read(ImageInput("data:image/png;base64,iVBORw0KGgo=", "url"))
    assert web.fetches == 2


def test_files_are_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    reader = Reader(LIMITS)
    for content in (b"one", b"two"):
        path.write_bytes(content)
        assert reader.read(ImageInput(str(path), "upload")) == content
