"""Pictures for the tests: one shape each, in sizes whose buckets were worked out by hand."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw

SIZES = {
    "circle.png": (532, 364),
    "square.png": (400, 300),
    "portrait.png": (364, 532),
    "wide.jpg": (1920, 1080),
}
"""Width and height."""


def write_pictures(folder: Path) -> Path:
    """Draw every picture, and a file that is none."""
    for name, (width, height) in SIZES.items():
        picture = Image.new("RGB", (width, height), "white")
        draw = ImageDraw.Draw(picture)
        side = min(width, height) * 0.55
        box = (
            (width - side) / 2,
            (height - side) / 2,
            (width + side) / 2,
            (height + side) / 2,
        )
        if name.startswith("square"):
            draw.rectangle(box, fill="#1f4fd8")
        else:
            draw.ellipse(box, fill="#d81f1f")
        picture.save(folder / name)
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n this is not a picture")
    return folder
