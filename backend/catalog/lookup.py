"""Which row `--model` means."""

import re
from pathlib import Path

from backend.catalog.derive import derive_row
from backend.catalog.hub import config_folder, is_hub_id
from backend.catalog.rows import ROWS
from backend.catalog.spec import ModelSpec
from backend.errors import ModelError, UnknownModelError
from backend.settings import nearest, repository

LONGEST_NAME = 80
"""Characters of an unknown name that a message repeats."""

HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")


def get_model(name: str) -> ModelSpec:
    """The row of a catalogue key or Hugging Face id, or one derived for a folder or another id.

    Raises ModelError: `unknown_model` naming the nearest keys, also for an id whose config cannot
    be had, and `model_unavailable` for a folder that holds no model.
    """
    for row in ROWS:
        if name in (row.key, row.hf_id):
            return row
    folder = Path(name)
    if name and _is_folder(folder):
        return derive_row(folder, name, str(folder.resolve()), folder.resolve().name)
    if HUB_ID.fullmatch(name) and is_hub_id(name):
        return _from_hub(name)
    keys = [row.key for row in ROWS]
    shown = name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"
    raise UnknownModelError(f"There is no model {shown!r}. {nearest(name, keys)}")


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except (OSError, ValueError):
        # A name too long for a file, or a folder that may not be looked into.
        return False


def model_path(spec: ModelSpec) -> str:
    """What vLLM is given: a folder of the repository, or the id.

    Raises ModelError (`model_unavailable`) where the bundled files are missing.
    """
    if not spec.bundled:
        return spec.hf_id
    folder = repository() / spec.hf_id
    if not (folder / "config.json").is_file():
        raise ModelError(
            "model_unavailable",
            f"The bundled model is missing from {spec.hf_id}: clone the repository again.",
        )
    return str(folder)


def _from_hub(hf_id: str) -> ModelSpec:
    try:
        folder = config_folder(hf_id)
    except ModelError as error:
        known = {name for row in ROWS for name in (row.key, row.hf_id)}
        hint = f"{nearest(hf_id, known)} {error.message}"
        raise UnknownModelError(f"{hf_id} is not in the catalogue. {hint}") from None
    return derive_row(folder, hf_id, hf_id, hf_id)
