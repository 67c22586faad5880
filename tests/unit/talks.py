"""Conversations made by hand."""

from pathlib import Path
from typing import Any

from backend.placement import Bucket, PlacedImage, Placement
from backend.types import ImageInput, Result, Timings, Usage
from ui.session import Attachment, Exchange


def attachment(name: str = "circle.png", path: str = "", gone: bool = False) -> Attachment:
    """A picture of 532 x 364 pixels; its file is this one unless a `path` is given."""
    placement = Placement(Bucket(364, 532, (364, 532), 247), "stretch", 1.0)
    sha256 = name.encode().hex().ljust(64, "0")[:64]
    placed = PlacedImage(name, 532, 364, sha256, placement)
    image = ImageInput(path or str(Path(__file__)), "upload", name)
    return Attachment(image, placed, "data:image/webp;base64,AAAA", gone)


def answer(text: str, end: Any = "stop") -> Result:
    """An answer of 3 tokens."""
    usage, timings = Usage(20, 12, 3), Timings(total_s=1.0)
    return Result(text, end, "key", "cpu", "split", "chat", (), usage, timings)


def exchange(prompt: str, text: str = "", *items: Attachment, end: Any = "stop") -> Exchange:
    """A question with its answer, if it has one."""
    return Exchange(prompt, items, answer(text, end) if text else None)
