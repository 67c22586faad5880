"""ImageInput to bytes: reads the file, fetches the URL or unpacks the data URL."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

from backend.errors import InputError
from backend.intake.data_url import is_data_url, read_data_url, short_name
from backend.intake.decode import too_many_bytes
from backend.intake.fetch import fetch
from backend.intake.limits import IntakeLimits
from backend.types import ImageInput

LONGEST_NAME = 80
"""Characters of an address's last part; a file's name is short enough by itself."""


def display_name(image: ImageInput) -> str:
    """What messages call the image: its given name, else the last part of its path or URL.

    Never a folder of this machine, nor the content of a data URL; printable.
    """
    name = image.name or _last_part(image)
    return "".join(c if c.isprintable() else "\ufffd" for c in name)


def read(image: ImageInput, limits: IntakeLimits) -> bytes:
    """The bytes of the image. Blocking; raises InputError."""
    if image.origin == "url":
        location = image.location.strip()
        if is_data_url(location):
            return read_data_url(location, limits)
        return fetch(location, limits)
    name, path = display_name(image), Path(image.location)
    try:
        if not path.is_file():
            raise InputError("image_unreadable", f"There is no file {name}.")
        if path.stat().st_size > limits.max_bytes:
            raise too_many_bytes(name, limits)
        return path.read_bytes()
    except (OSError, ValueError):
        raise InputError("image_unreadable", f"{name} cannot be read.") from None


def _last_part(image: ImageInput) -> str:
    if image.origin != "url":
        return Path(image.location).name
    location = image.location.strip()
    if is_data_url(location):
        return short_name(location)
    try:
        parts = urlsplit(location)
    except ValueError:
        return "the address"
    name = unquote(Path(parts.path).name) or parts.hostname or "the address"
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"
