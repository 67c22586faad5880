"""A conversation as the browser keeps it and as its JSON file has it, and back.

What comes back is not trusted, whoever it comes from. It holds words and thumbnails alone: no path
and no address, so nothing in it can make the server read a file or fetch anything. Its pictures
are `gone` until they are given again.

    {"format": "bifocal-conversation", "version": 1, "id", "title", "model", "turns": [
        {"prompt", "images": [{"name", "width", "height", "sha256", "thumbnail"}],
         "answer": {"text", "finish_reason", "prompt_tokens", "image_tokens", "completion_tokens"}
                   or null}]}
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, cast

from backend.errors import InputError
from backend.placement import Bucket, PlacedImage, Placement
from backend.types import FinishReason, ImageInput, Result, Timings, Usage
from ui.session import Attachment, Exchange

FORMAT = "bifocal-conversation"
VERSION = 1
LONGEST_TITLE = 60
MOST_TURNS = 500
MOST_IMAGES = 200
"""Images of one turn."""
MOST_CHARACTERS = 8_000_000
"""Of a whole record; browsers keep about 5 million for a page."""
LONGEST_THUMBNAIL = 200_000

_IDENTITY = re.compile(r"[0-9a-f]{32}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_THUMBNAIL = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/]+={0,2}")
_ENDS = ("stop", "length", "abort")


def title_of(exchanges: Sequence[Exchange]) -> str:
    """What a conversation is called until somebody names it: how its first question begins."""
    words = " ".join(exchanges[0].prompt.split()) if exchanges else ""
    return short_title(words) or "Conversation"


def short_title(text: str) -> str:
    """A title on one line, not too long, printable."""
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= LONGEST_TITLE else f"{words[: LONGEST_TITLE - 1].rstrip()}…"


def imported_title(title: str) -> str:
    """The same, told apart from the conversation that was exported."""
    mark = " (imported)"
    if title.endswith(mark):
        return title
    return short_title(title if len(title + mark) <= LONGEST_TITLE else title[:40]) + mark


def as_record(identity: str, title: str, model: str, exchanges: Sequence[Exchange]) -> Any:
    """What is kept of a conversation."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "id": identity,
        "title": title,
        "model": model,
        "turns": [_turn(exchange) for exchange in exchanges],
    }


def _turn(exchange: Exchange) -> dict[str, Any]:
    images = [
        {
            "name": item.placed.source,
            "width": item.placed.width,
            "height": item.placed.height,
            "sha256": item.placed.sha256,
            "thumbnail": item.thumbnail,
        }
        for item in exchange.attachments
    ]
    return {"prompt": exchange.prompt, "images": images, "answer": _answer(exchange.result)}


def _answer(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "text": result.text,
        "finish_reason": result.finish_reason,
        **{name: getattr(result.usage, name) for name in Usage.__slots__},
    }


def parse(text: str) -> tuple[str, list[Exchange]]:
    """Title and exchanges of a JSON file. Raises InputError (`bad_conversation`)."""
    if len(text) > MOST_CHARACTERS:
        raise _bad(f"it is larger than {MOST_CHARACTERS // 1_000_000} million characters")
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        raise _bad("it is not JSON") from None
    return read_record(record)


def read_record(record: Any) -> tuple[str, list[Exchange]]:
    """Title and exchanges of a record. Raises InputError (`bad_conversation`)."""
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise _bad("it is not a conversation that Bifocal exported as JSON")
    if record.get("version") != VERSION:
        raise _bad("it is of another version than this Bifocal can read")
    turns = _list(record.get("turns"), "turns", MOST_TURNS)
    model = short_title(_text(record.get("model", ""), "the model's name"))
    exchanges = [_exchange(turn, number, model) for number, turn in enumerate(turns, 1)]
    if not exchanges:
        raise _bad("there is nothing in it")
    title = short_title(_text(record.get("title", ""), "its title"))
    return title or title_of(exchanges), exchanges


def read_identity(record: Any) -> str:
    """The id of a record, empty where it has none that could be ours."""
    found = record.get("id") if isinstance(record, dict) else None
    return found if isinstance(found, str) and _IDENTITY.fullmatch(found) else ""


def _exchange(turn: Any, number: int, model: str) -> Exchange:
    where = f"turn {number}"
    if not isinstance(turn, dict):
        raise _bad(f"{where} is not an object")
    images = _list(turn.get("images", []), f"the images of {where}", MOST_IMAGES)
    return Exchange(
        _text(turn.get("prompt"), f"the prompt of {where}"),
        tuple(_attachment(image, where) for image in images),
        _result(turn.get("answer"), where, model),
    )


def _attachment(image: Any, where: str) -> Attachment:
    if not isinstance(image, dict):
        raise _bad(f"an image of {where} is not an object")
    name = short_title(_text(image.get("name", ""), f"an image's name in {where}")) or "picture"
    sha256, thumbnail = image.get("sha256"), image.get("thumbnail")
    known = isinstance(sha256, str) and _SHA256.fullmatch(sha256)
    small = isinstance(thumbnail, str) and len(thumbnail) <= LONGEST_THUMBNAIL
    shown = thumbnail if small and _THUMBNAIL.fullmatch(cast(str, thumbnail)) else ""
    placed = PlacedImage(
        name,
        _count(image.get("width")),
        _count(image.get("height")),
        cast(str, sha256) if known else "",
        Placement(Bucket(0, 0, None, 0), "stretch", 1.0),
    )
    return Attachment(ImageInput("", "upload", name), placed, cast(str, shown), gone=True)


def _result(answer: Any, where: str, model: str) -> Result | None:
    if answer is None:
        return None
    if not isinstance(answer, dict):
        raise _bad(f"the answer of {where} is not an object")
    end = answer.get("finish_reason")
    return Result(
        text=_text(answer.get("text"), f"the answer of {where}"),
        finish_reason=cast(FinishReason, end) if end in _ENDS else None,
        model=model,
        target="",
        topology="",
        method="chat",
        images=(),
        usage=Usage(*(_count(answer.get(name)) for name in Usage.__slots__)),
        timings=Timings(),
    )


def _list(value: Any, what: str, most: int) -> list[Any]:
    if not isinstance(value, list):
        raise _bad(f"{what} are not a list")
    if len(value) > most:
        raise _bad(f"{what} are more than {most}")
    return value


def _text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise _bad(f"{what} is not text")
    # Half a surrogate pair can be written in JSON, and nowhere else.
    return value.encode("utf-8", "replace").decode("utf-8")


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 10**9 else 0


def _bad(why: str) -> InputError:
    return InputError(
        "bad_conversation",
        f"This conversation cannot be read: {why}. Choose a file that Export made here as JSON.",
    )
