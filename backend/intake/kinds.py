"""Kinds: what a file really is that is no picture, in words for a message."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = 4096
"""Bytes looked at."""


@dataclass(frozen=True, slots=True)
class Mark:
    """`sign` stands at byte `at` of a file that is `kind`."""

    sign: bytes
    kind: str
    at: int = 0


MARKS = (
    Mark(b"PK\3\4", "a ZIP archive"),
    Mark(b"PK\5\6", "a ZIP archive"),
    Mark(b"Rar!", "a RAR archive"),
    Mark(b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    Mark(b"\x1f\x8b", "a gzip archive"),
    Mark(b"BZh", "a bzip2 archive"),
    Mark(b"\xfd7zXZ\0", "an XZ archive"),
    Mark(b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    Mark(b"ustar", "a tar archive", 257),
    Mark(b"%!", "a PostScript (EPS) document"),
    Mark(b"\xc5\xd0\xd3\xc6", "a PostScript (EPS) document"),
    Mark(b"\xd7\xcd\xc6\x9a", "a Windows metafile (WMF)"),
    Mark(b"\1\0\x09\0\0", "a Windows metafile (WMF)"),
    Mark(b" EMF", "a Windows metafile (EMF)", 40),
    Mark(b"8BPS", "a Photoshop document"),
    Mark(b"\xff\x0a", "a JPEG XL picture"),
    Mark(b"\0\0\0\x0cJXL ", "a JPEG XL picture"),
    Mark(b"ftypcrx ", "a raw photo of a camera", 4),
    Mark(b"ftypM4A", "a sound file", 4),
    Mark(b"\x1a\x45\xdf\xa3", "a video"),
    Mark(b"FLV\1", "a video"),
    Mark(b"\0\0\1\xba", "a video"),
    Mark(b"\0\0\1\xb3", "a video"),
    Mark(b"AVI ", "a video", 8),
    Mark(b"WAVE", "a sound file", 8),
    Mark(b"OggS", "a video or a sound file"),
    Mark(b"ID3", "a sound file"),
    Mark(b"fLaC", "a sound file"),
    Mark(b"\x7fELF", "a program"),
    Mark(b"MZ", "a program"),
    Mark(b"SQLite format 3\0", "a database"),
)

PICTURE_BRANDS = ("avif", "avis", "heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1")
"""Major brands of ISO media files that are pictures; every other one is a video."""

PICTURES = (
    b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM", b"II*\0", b"MM\0*", b"\0\0\1\0",
    b"\0\0\0\x0cjP", b"\xff\x4f\xff\x51",
)  # fmt: skip


def what_it_is(data: bytes) -> str | None:
    """A noun phrase such as `a PDF document`; None for pictures and for what is not known."""
    head = data[:HEAD]
    for mark in MARKS:
        if head.startswith(mark.sign, mark.at):
            return mark.kind
    if b"%PDF-" in head[:1024]:
        return "a PDF document"
    if head[4:8] == b"ftyp" and not is_picture(data):
        return "a video"
    return None if is_picture(data) else _kind_of_text(data, head)


def is_picture(data: bytes) -> bool:
    """Whether the first bytes are those of a format that is read, whole or not."""
    if data[4:8] == b"ftyp":
        return data[8:12].decode("latin-1") in PICTURE_BRANDS
    return data.startswith(PICTURES)


def _kind_of_text(data: bytes, head: bytes) -> str | None:
    text = _as_text(head, whole=len(data) <= HEAD)
    if text is None:
        return None
    start = text.lstrip("\ufeff \t\r\n").lower()
    if start.startswith("<"):
        if "<!doctype html" in start or "<html" in start or start.startswith(("<head", "<body")):
            return "an HTML page"
        if "<svg" in start:
            return "an SVG drawing"
        if start.startswith("<?xml"):
            return "an XML document"
    return "text" if start else None


def _as_text(head: bytes, whole: bool) -> str | None:
    """The bytes as text, or None where they are none."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", "replace")
    try:
        text = head.decode()
    except UnicodeDecodeError as error:
        # A character may have been cut in two at the end of the head.
        if whole or error.start < len(head) - 3:
            return None
        text = head[: error.start].decode()
    return text if all(c.isprintable() or c in "\t\r\n\f" or c == "\ufeff" for c in text) else None
