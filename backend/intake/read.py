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
"""Characters of a name."""


def display_name(image: ImageInput) -> str:
    """What messages call the image: its given name, else the last part of its path or URL.

    Never a folder of this machine, nor the content of a data URL; printable.
    """
    name = image.name or _last_part(image)
    printable = "".join(c if c.isprintable() else "\ufffd" for c in name)
    return printable if len(printable) <= LONGEST_NAME else f"{printable[: LONGEST_NAME - 1]}…"


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
            raise _no_file(path, name)
        with path.open("rb") as file:
            # Not all files say how large they are, and some never end.
            data = file.read(limits.max_bytes + 1)
    except (OSError, ValueError) as fault:
        why = "you may not read it" if isinstance(fault, PermissionError) else "check its name"
        raise InputError("image_unreadable", f"{name} cannot be read: {why}.") from None
    if len(data) > limits.max_bytes:
        raise too_many_bytes(name, limits)
    return data


def _no_file(path: Path, name: str) -> InputError:
    if not path.exists():
        return InputError("image_unreadable", f"There is no file {name}: check its path.")
    what = "a folder" if path.is_dir() else "no ordinary file"
    return InputError("image_unreadable", f"{name} is {what}: choose an image file.")


def _last_part(image: ImageInput) -> str:
    if image.origin != "url":
        return Path(image.location).name or "this path"
    location = image.location.strip()
    if is_data_url(location):
        return short_name(location)
    try:
        parts = urlsplit(location)
    except ValueError:
        return "the address"
    return unquote(Path(parts.path).name) or parts.hostname or "the address"
