"""Pictures for the tests, in sizes whose buckets were worked out by hand: mostly one shape each."""

from __future__ import annotations

from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

SIZES = {
    "circle.png": (532, 364),
    "square.png": (400, 300),
    "middle.png": (640, 480),
    "portrait.png": (364, 532),
    "wide.jpg": (1920, 1080),
}
"""Width and height."""


def write_pictures(folder: Path) -> Path:
    """Draw every picture, and a file that is none."""
    for name, (width, height) in SIZES.items():
        picture = Image.new("RGB", (width, height), "white")
        draw = ImageDraw.Draw(picture)
        # As large as a large shape of the bundled model's world.
        side = (width * height) ** 0.5 * 0.24
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
    scene().save(folder / "scene.png")
    mirrored = scene().transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    mirrored.save(folder / "mirrored.png")
    lone().save(folder / "lone.png")
    word("TIGER").save(folder / "word.png")
    (folder / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n this is not a picture")
    return folder


def scene() -> Image.Image:
    """A blue square at the top left, a green triangle in the center and a red circle at the bottom
    right, on white."""
    picture = Image.new("RGB", (900, 600), "white")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((70, 30, 220, 180), fill="#1e3cdc")
    draw.polygon([(450, 215), (365, 380), (535, 380)], fill="#1a9a32")
    draw.ellipse((680, 420, 830, 570), fill="#e1141e")
    return picture


def lone() -> Image.Image:
    """A red circle that fills most of a white picture."""
    picture = Image.new("RGB", (640, 480), "white")
    ImageDraw.Draw(picture).ellipse((170, 90, 470, 390), fill="#e1141e")
    return picture


def word(text: str) -> Image.Image:
    """A word in black on a yellow ground."""
    picture = Image.new("RGB", (800, 500), "#f5dc28")
    font = ImageFont.load_default(110)
    ImageDraw.Draw(picture).text((400, 250), text, fill="black", font=font, anchor="mm")
    return picture
