"""Decoded pictures that are found again."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from PIL import Image

from backend.errors import InputError
from backend.intake.album import Album
from backend.types import LoadedImage

SIDE = 10
NBYTES = 4 * SIDE * SIDE


class Decoder:
    """Counts what it is asked to decode; a file's first byte is its picture's grey level."""

    def __init__(self) -> None:
        self.asked: list[bytes] = []

    def __call__(self, data: bytes, name: str) -> LoadedImage:
        self.asked.append(data)
        if not data:
            raise InputError("image_unreadable", f"{name} is empty.")
        pixels = Image.new("RGB", (SIDE, SIDE), (data[0],) * 3)
        return LoadedImage(pixels, data.hex(), SIDE, SIDE, name, ("a note",))


@pytest.fixture
def decode() -> Decoder:
    return Decoder()


def test_the_same_bytes_are_decoded_once_and_keep_their_own_name(decode: Decoder) -> None:
    album = Album()
    first = album.decoded(b"a", "first.png", decode)
    again = album.decoded(b"a", "again.png", decode)
    assert decode.asked == [b"a"]
    assert again.pixels is first.pixels
    assert (first.source, again.source) == ("first.png", "again.png")
    assert (again.sha256, again.notes) == (first.sha256, ("a note",))


def test_other_bytes_are_another_picture(decode: Decoder) -> None:
    album = Album()
    pictures = [album.decoded(data, "name", decode).pixels for data in (b"a", b"b", b"a")]
    assert [picture.getpixel((0, 0)) for picture in pictures] == [(97,) * 3, (98,) * 3, (97,) * 3]


def test_what_was_used_longest_ago_goes_first(decode: Decoder) -> None:
    album = Album(max_bytes=2 * NBYTES)
    for data in (b"a", b"b", b"a", b"c", b"a", b"b"):
        album.decoded(data, "name", decode)
    assert decode.asked == [b"a", b"b", b"c", b"b"]


def test_a_picture_over_the_bound_drives_nothing_out(decode: Decoder) -> None:
    album = Album(max_bytes=NBYTES - 1)
    for _ in range(2):
        album.decoded(b"a", "name", decode)
    assert decode.asked == [b"a", b"a"]
    album = Album(max_bytes=NBYTES)
    for _ in range(2):
        album.decoded(b"a", "name", decode)
    assert decode.asked == [b"a", b"a", b"a"]


def test_a_fault_is_told_each_time_under_the_name_of_the_time(decode: Decoder) -> None:
    album = Album()
    for name in ("one.png", "two.png"):
        with pytest.raises(InputError, match=name):
            album.decoded(b"", name, decode)


def test_threads_share_it(decode: Decoder) -> None:
    album = Album(max_bytes=3 * NBYTES)
    files = [bytes([number % 7]) for number in range(2_000)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda data: album.decoded(data, "name", decode).sha256, files))
    assert found == [data.hex() for data in files]
    before = len(decode.asked)
    for data in (b"x", b"y", b"z", b"x", b"y", b"z"):
        album.decoded(data, "name", decode)
    assert len(decode.asked) == before + 3
