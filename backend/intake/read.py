"""ImageInput to bytes: reads the file or fetches the URL."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from backend.errors import InputError
from backend.intake.decode import too_many_bytes
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits
from backend.types import ImageInput


def display_name(image: ImageInput) -> str:
    """What messages call the image: its given name, else the last part of its path or URL."""
    if image.name:
        return image.name
    if image.origin == "url":
        parts = urlsplit(image.location)
        return unquote(Path(parts.path).name) or (parts.hostname or "the address")
    return Path(image.location).name


def read(image: ImageInput, limits: IntakeLimits) -> bytes:
    """The bytes of the image. Blocking; raises InputError."""
    if image.origin == "url":
        return fetch(image.location, limits)
    name, path = display_name(image), Path(image.location)
    try:
        if not path.is_file():
            raise InputError("image_unreadable", f"There is no file {name}.")
        if path.stat().st_size > limits.max_bytes:
            raise too_many_bytes(name, limits)
        return path.read_bytes()
    except (OSError, ValueError):
        raise InputError("image_unreadable", f"{name} cannot be read.") from None
