"""Data URLs: the same bytes and limits as from anywhere else; their content is never told."""

import base64
import dataclasses
import re
import time
from urllib.parse import quote

import pytest

from backend.errors import InputError
from backend.intake.data_url import read_data_url, short_name
from backend.intake.decode import decode
from backend.intake.read import display_name
from backend.types import ImageInput
from ui.command_line.ask import image_input
from ui.inputs import read_urls

from .pictures import LIMITS, quarters, saved

PICTURE = saved(quarters())
BASE64 = base64.b64encode(PICTURE).decode()


def refusal(url: str) -> InputError:
    with pytest.raises(InputError) as caught:
        decode(read_data_url(url, LIMITS), short_name(url), LIMITS)
    assert len(caught.value.message) < 250
    assert BASE64[:20] not in caught.value.message
    return caught.value


@pytest.mark.parametrize(
    "url",
    [
        f"data:image/png;base64,{BASE64}",
        f"data:image/jpeg;base64,{BASE64}",
        f"data:;base64,{BASE64}",
        f"data:image/png;charset=utf-8;base64,{BASE64}",
        f"DATA:image/png;BASE64,{BASE64}",
        f"data:image/png;base64,{BASE64.rstrip('=')}",
        f"data:image/png;base64,{quote(BASE64, safe='')}",
        f"data:image/png;base64,{BASE64[:40]} {BASE64[40:]}",
        f"data:image/png,{quote(PICTURE)}",
        f"data:,{quote(PICTURE)}#part",
    ],
    ids=lambda url: re.sub(r",.*", "", url),
)
def test_a_picture(url: str) -> None:
    assert read_data_url(url, LIMITS) == PICTURE


@pytest.mark.parametrize(
    ("url", "code", "words"),
    [
        ("data:image/png;base64", "url_refused", "no comma"),
        ("data:" + BASE64, "url_refused", "no comma"),
        ("data:image/png;base64,", "image_unreadable", "is empty"),
        ("data:,", "image_unreadable", "is empty"),
        (f"data:image/png;base64,{BASE64[:40]}*{BASE64[40:]}", "image_unreadable", "valid base64"),
        ("data:image/png;base64,iVBOR", "image_unreadable", "valid base64"),
        (f"data:image/png;base64,{BASE64[:120]}", "image_unreadable", "damaged"),
        ("data:text/html,<!doctype html><html>", "image_unreadable", "an HTML page"),
        ("data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>", "image_unreadable", "SVG"),
        ("data:text/plain,hello", "image_unreadable", "is text"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_what_is_no_picture(url: str, code: str, words: str) -> None:
    error = refusal(url)
    assert error.code == code
    assert words in error.message


@pytest.mark.parametrize(
    "url",
    [
        "data:;base64," + "A" * 4_000_000,
        "data:;base64," + "A" * 1_333_336,
        "data:," + "a" * 1_000_001,
        "data:," + "%00" * 1_000_001,
    ],
    ids=lambda url: f"{url[:15]} {len(url)}",
)
def test_too_much_is_refused(url: str) -> None:
    started = time.perf_counter()
    assert refusal(url).code == "image_too_large"
    assert time.perf_counter() - started < 0.5


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("a%20b%2Bc+d", b"a b+c+d"),
        ("%3d=%3D%0a%0D", b"===\n\r"),
        ("100%", b"100%"),
        ("%%41%4", b"%A%4"),
        ("\u00e4", b"\xc3\xa4"),
        ("\ud800", b"\xed\xa0\x80"),
        ("x ", b"x "),
    ],
)
def test_percent_encoding(text: str, data: bytes) -> None:
    assert read_data_url(f"data:,{text}", LIMITS) == data


def test_exactly_the_limit() -> None:
    limits = dataclasses.replace(LIMITS, max_bytes=len(PICTURE))
    assert read_data_url(f"data:;base64,{BASE64}", limits) == PICTURE
    assert read_data_url(f"data:,{quote(PICTURE, safe='')}", limits) == PICTURE
    with pytest.raises(InputError, match="larger than"):
        read_data_url(f"data:;base64,{BASE64}", dataclasses.replace(limits, max_bytes=99))


@pytest.mark.parametrize(
    ("url", "name"),
    [
        (f"data:image/png;base64,{BASE64}", "data:image/png;base64,…"),
        ("data:,cat", "data:,…"),
        (f"data:{'x' * 500},cat", "data:,…"),
        ("data:<script>/x,cat", "data:,…"),
    ],
    ids=["base64", "bare", "long", "script"],
)
def test_its_name_is_short(url: str, name: str) -> None:
    assert short_name(url) == display_name(ImageInput(url, "url")) == name


def test_in_a_list_of_addresses_it_is_one_line() -> None:
    """It may hold blanks, which part other addresses."""
    lines = "http://a.test/1.png http://a.test/2.png\n data:image/png,a b c \n\nhttp://a.test/3.png"
    assert [image.location for image in read_urls(lines)] == [
        "http://a.test/1.png", "http://a.test/2.png", "data:image/png,a b c", "http://a.test/3.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "origin"),
    [("data:,x", "url"), ("Data:,x", "url"), ("http://a.test/", "url"), ("data/cat.png", "path")],
)
def test_on_the_command_line(text: str, origin: str) -> None:
    assert image_input(text).origin == origin
