"""Which row `--model` means."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.catalog.rows import ROWS
from backend.catalog.spec import ModelSpec
from backend.errors import ModelError
from backend.settings import nearest, repository


def get_model(name: str) -> ModelSpec:
    """The row of a catalogue key or Hugging Face id, or one derived for a folder.

    A folder's row is that of its architecture with the folder's own limits. Raises ModelError:
    `unknown_model` naming the nearest keys, `model_unavailable` for a folder that holds no model.
    """
    for row in ROWS:
        if name in (row.key, row.hf_id):
            return row
    if Path(name).is_dir():
        return _from_folder(Path(name))
    keys = [row.key for row in ROWS]
    raise ModelError("unknown_model", f"There is no model {name!r}. {nearest(name, keys)}")


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


def _from_folder(folder: Path) -> ModelSpec:
    config = _config(folder)
    architecture = (config.get("architectures") or ["none"])[0]
    row = next((row for row in ROWS if row.architecture == architecture), None)
    if row is None:
        known = ", ".join(sorted({row.architecture for row in ROWS}))
        raise ModelError(
            "unknown_model",
            f"{folder.name} has the architecture {architecture}; these are supported: {known}.",
        )
    text = config.get("text_config") or config
    limit = text.get("max_position_embeddings")
    return replace(
        row,
        key=str(folder),
        label=folder.resolve().name,
        hf_id=str(folder.resolve()),
        origins=(),
        bundled=False,
        ctx_len=limit if isinstance(limit, int) else row.ctx_len,
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        config = json.loads((folder / "config.json").read_text())
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict):
        raise ModelError(
            "model_unavailable", f"The folder {folder.name} has no readable config.json."
        )
    return config
