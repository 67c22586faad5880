"""Data URL: a picture written out in its own address."""

from __future__ import annotations

import base64
import binascii
import re

from backend.errors import InputError
from backend.intake.decode import too_many_bytes
from backend.intake.limits import IntakeLimits

MEDIA_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,40}")
STRAY = re.compile(rb"%(?![0-9A-Fa-f]{2})")
"""A percent sign that stands for itself."""
BLANKS = b" \t\r\n\f"


def is_data_url(location: str) -> bool:
    """Whether an address carries its own content."""
    return location[:5].lower() == "data:"


def short_name(url: str) -> str:
    """What messages call it, never its content: `data:image/png;base64,...`."""
    head = url[:200].partition(",")[0]
    media_type = MEDIA_TYPE.match(head[5:])
    base = ";base64" if _is_base64(head) else ""
    return f"data:{media_type[0] if media_type else ''}{base},…"


def read_data_url(url: str, limits: IntakeLimits) -> bytes:
    """The bytes it carries, whatever type it claims.

    Raises InputError: `url_refused` where it is no data URL, `image_too_large` before decoding,
    `image_unreadable` for broken base64.
    """
    head, comma, body = url.partition(",")
    if not comma:
        raise InputError("url_refused", "This data: address has no comma before its content.")
    if len(body) > 3 * limits.max_bytes + len(BLANKS):
        raise too_many_bytes(short_name(url), limits)
    data = _unquoted(body.partition("#")[0])
    if _is_base64(head):
        data = _decoded(data.translate(None, BLANKS), url, limits)
    if len(data) > limits.max_bytes:
        raise too_many_bytes(short_name(url), limits)
    return data


def _is_base64(head: str) -> bool:
    return head.rpartition(";")[2].strip().lower() == "base64"


def _unquoted(text: str) -> bytes:
    """Percent-encoding undone, by way of quoted-printable.

    It is the same with another sign and is decoded in C; urllib's own takes a second a megabyte.
    """
    data = text.encode("utf-8", "surrogatepass")
    if b"%" not in data:
        return data
    quoted = STRAY.sub(b"=25", data.replace(b"=", b"=3D"))
    return binascii.a2b_qp(quoted.replace(b"%", b"="))


def _decoded(text: bytes, url: str, limits: IntakeLimits) -> bytes:
    text = text.rstrip(b"=")
    if len(text) * 3 // 4 > limits.max_bytes:
        raise too_many_bytes(short_name(url), limits)
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise InputError(
            "image_unreadable", f"{short_name(url)} is not valid base64: copy the whole address."
        ) from None
