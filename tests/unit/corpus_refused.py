"""The corpus of files that are refused: no pictures, broken ones, and bombs."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from PIL import Image

from .pictures import icon, png_header, png_with, quarters, saved

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><image href="http://127.0.0.1/x"/></svg>'
HTML = b"<!-- a page -->\n<!doctype html><html><body><p>Not found</p></body></html>"
TEXT = "hello, I am a text file, na\u00efve but whole. ".encode() * 200


@dataclass(frozen=True)
class Refused:
    """A file with the code it is refused with and words of the message."""

    name: str
    make: Callable[[], bytes]
    words: str
    code: str = "image_unreadable"


def these(data: bytes) -> Callable[[], bytes]:
    return lambda: data


def zipped() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("cat.png", saved(quarters()))
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("cat.png"))
    return out.getvalue()


def media(brand: bytes) -> bytes:
    """The beginning of an ISO media file."""
    return struct.pack(">I", 24) + b"ftyp" + brand + bytes(4) + brand + b"mp42" + bytes(100)


def cut(kind: str, part: float) -> Callable[[], bytes]:
    def make() -> bytes:
        data = saved(Image.effect_noise((120, 90), 80).convert("RGB"), kind)
        return data[: int(len(data) * part)]

    return make


def packed(size: int) -> bytes:
    return zlib.compress(bytes(size))


def tiff_bomb() -> bytes:
    """Claims 60000 x 60000 pixels in one strip of ten bytes."""
    tags = [(256, 60_000), (257, 60_000), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1)]
    entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(14)


def gif_bomb() -> bytes:
    """One pixel by its header, and a first frame of 60000 x 60000."""
    screen = b"GIF89a" + struct.pack("<HHBBB", 1, 1, 0x80, 0, 0) + bytes(6)
    frame = b"\x2c" + struct.pack("<HHHHB", 0, 0, 60_000, 60_000, 0)
    return screen + frame + b"\2\2\x44\1\0;"


def jpeg_of_scans() -> bytes:
    """A progressive JPEG whose last pass comes a thousand times."""
    data = saved(quarters(), "JPEG", progressive=True)
    scan = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + scan * 1000 + data[-2:]


READ = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "HEIF", "JPEG2000", "PPM")
TOO_MUCH = ("unpacks to far more", "image_too_large")

REFUSED = (
    # What it really was
    Refused("empty", these(b""), "is empty"),
    Refused("pdf", these(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n"), "is a PDF document"),
    Refused("svg", these(SVG), "is an SVG drawing"),
    Refused("svg-declared", these(b'\xef\xbb\xbf<?xml version="1.0"?>\n' + SVG), "an SVG drawing"),
    Refused("svg-packed", lambda: gzip.compress(SVG), "is a gzip archive"),
    Refused("html", these(HTML), "is an HTML page"),
    Refused("xml", these(b'<?xml version="1.0"?><cats/>'), "is an XML document"),
    Refused("text", these(TEXT), "is text"),
    Refused("text-short", these(b"P"), "is text"),
    Refused("text-utf-16", lambda: "hello".encode("utf-16"), "is text"),
    Refused("text-like-a-bitmap", these(b"BM is how bitmaps begin"), "damaged"),
    Refused("json", these(b'{"error": "not found"}'), "is text"),
    Refused("eps", lambda: saved(quarters(), "EPS"), "PostScript (EPS)"),
    Refused("eps-binary", these(b"\xc5\xd0\xd3\xc6" + bytes(60)), "PostScript (EPS)"),
    Refused("wmf", these(b"\xd7\xcd\xc6\x9a" + bytes(60)), "metafile (WMF)"),
    Refused("emf", these(b"\1\0\0\0" + bytes(36) + b" EMF" + bytes(60)), "metafile (EMF)"),
    Refused("zip", zipped, "is a ZIP archive"),
    Refused("tar", tarred, "is a tar archive"),
    Refused("gzip", lambda: gzip.compress(bytes(99)), "is a gzip archive"),
    Refused("bzip2", lambda: bz2.compress(bytes(99)), "is a bzip2 archive"),
    Refused("xz", lambda: lzma.compress(bytes(99)), "is an XZ archive"),
    Refused("mp4", lambda: media(b"isom"), "is a video"),
    Refused("mov", lambda: media(b"qt  "), "is a video"),
    Refused("m4a", lambda: media(b"M4A "), "is a sound file"),
    Refused("webm", these(b"\x1a\x45\xdf\xa3" + bytes(60)), "is a video"),
    Refused("avi", these(b"RIFF\x60\0\0\0AVI LIST" + bytes(60)), "is a video"),
    Refused("wav", these(b"RIFF\x60\0\0\0WAVEfmt " + bytes(60)), "is a sound file"),
    Refused("psd", these(b"8BPS\0\1" + bytes(60)), "is a Photoshop document"),
    Refused("jpeg-xl", these(b"\xff\x0a" + bytes(60)), "is a JPEG XL picture"),
    Refused("program", these(b"\x7fELF" + bytes(60)), "is a program"),
    Refused("noise", these(bytes(range(256)) * 4), "is not an image"),
    # Broken
    *(Refused(f"cut-{kind.lower()}", cut(kind, 0.6), "damaged") for kind in READ),
    Refused("only-a-signature", these(b"\x89PNG\r\n\x1a\n"), "damaged"),
    Refused("no-width", lambda: png_header(0, 10), "damaged"),
    # Too long, too large, and bombs
    Refused("too-tall", lambda: saved(Image.new("L", (1, 5000))), "1 x 5000 pixels"),
    Refused("too-wide", lambda: saved(Image.new("L", (5000, 1)), "JPEG"), "5000 x 1 pixels"),
    Refused("too-many-bytes", these(bytes(20_000_001)), "20 MB", "image_too_large"),
    Refused("png-bomb", lambda: png_header(13_000, 13_000), "13000 x 13000", "image_too_large"),
    Refused("png-largest", lambda: png_header(2**31 - 1, 2**31 - 1), *TOO_MUCH),
    Refused("tiff-bomb", tiff_bomb, *TOO_MUCH),
    Refused("gif-bomb", gif_bomb, *TOO_MUCH),
    Refused("ico-bomb", lambda: icon(png_header(13_000, 13_000), 16, 16), "13000 x 13000",
            "image_too_large"),
    Refused("jpeg-of-scans", jpeg_of_scans, *TOO_MUCH),
    Refused("ztxt-bomb", lambda: png_with((b"zTXt", b"key\0\0" + packed(10**8))), *TOO_MUCH),
    Refused("itxt-bomb", lambda: png_with((b"iTXt", b"key\0\1\0\0\0" + packed(10**8))), *TOO_MUCH),
    Refused("iccp-bomb", lambda: png_with((b"iCCP", b"icc\0\0" + packed(10**8))), *TOO_MUCH),
    Refused("ztxt-many", lambda: png_with(*[(b"zTXt", b"k\0\0" + packed(10**6))] * 70), *TOO_MUCH),
)  # fmt: skip
