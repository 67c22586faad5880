"""Small copies of pictures as data URIs, so that a page needs no file of ours once it is drawn."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image, ImageOps

from backend.types import ImageInput

if TYPE_CHECKING:
    from backend.service import Bifocal

SIDE = 320


async def thumbnail(backend: Bifocal, image: ImageInput) -> str:
    """A thumbnail of an image that the backend could read."""
    return _data_uri(await backend.preview(image, SIDE))


def file_thumbnail(path: Path, side: int = SIDE) -> str:
    """A thumbnail of a picture of our own."""
    with Image.open(path) as picture:
        small = ImageOps.exif_transpose(picture).convert("RGB")
    small.thumbnail((side, side))
    out = io.BytesIO()
    small.save(out, "WEBP", quality=80)
    return _data_uri(out.getvalue())


def _data_uri(webp: bytes) -> str:
    return f"data:image/webp;base64,{base64.b64encode(webp).decode('ascii')}"
