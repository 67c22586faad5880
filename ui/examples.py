"""The bundled pictures: `index.json` beside them names each with its title and question."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from backend.types import ImageInput


@dataclass(frozen=True, slots=True)
class Example:
    """One picture with a question that the demo model answers well."""

    path: Path
    title: str
    question: str
    note: str = ""
    """What it shows about buckets."""

    @property
    def image(self) -> ImageInput:
        """As the backend takes it."""
        return ImageInput(str(self.path), "path", name=self.path.name)


def read_examples(folder: Path) -> tuple[Example, ...]:
    """Every example of the folder that has its picture; none where there is no index."""
    index = folder / "index.json"
    if not index.is_file():
        return ()
    entries = json.loads(index.read_text("utf-8"))
    found = (
        Example(folder / e["file"], e["title"], e["question"], e.get("note", "")) for e in entries
    )
    return tuple(example for example in found if example.path.is_file())
