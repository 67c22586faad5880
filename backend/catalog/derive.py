"""A row for a model that the catalogue does not have, from its config and chat template."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from backend.buckets import DynamicResolution
from backend.catalog.prompt_style import ExplicitPrompt, PartsMessage, Placeholders, PromptStyle
from backend.catalog.rows import ROWS
from backend.catalog.spec import UNSTATED_CTX_LEN, ModelSpec
from backend.errors import ModelError, UnknownModelError
from backend.resolution import Resolution

Config = Mapping[str, Any]

HAVE_HALVES = frozenset({"InternVLForConditionalGeneration"})
"""Architectures without a row of which the split has been run, on tiny models."""

MAY_NAME_CODE = (
    "config.json",
    "tokenizer_config.json",
    "processor_config.json",
    "preprocessor_config.json",
)
"""Files that say, as `auto_map`, which Python classes of the repository make them."""


def derive_row(folder: Path, key: str, hf_id: str, label: str) -> ModelSpec:
    """The row of the model whose files are in the folder.

    A model of an architecture in the catalogue takes that family's row, with its own limits and
    chat template. Any other model with a vision config runs through its chat template, fused unless
    it is known to split, if vLLM knows it, which is found out when engines start. Raises
    ModelError: `model_unavailable` for a folder without a model, `unknown_model` for a model that
    takes no images.
    """
    config = _read(folder / "config.json")
    if config is None:
        raise ModelError("model_unavailable", f"The folder {label} has no readable config.json.")
    architecture = str((config.get("architectures") or ["none"])[0])
    family = _family(architecture, folder)
    row = _relative(family, folder, config) if family else _stranger(architecture, folder, config)
    return replace(row, key=key, label=label, hf_id=hf_id, note=_note(label, family))


def _family(architecture: str, folder: Path) -> ModelSpec | None:
    """The catalogue's row of the architecture; of several, one whose image token is known here."""
    rows = [row for row in ROWS if row.architecture == architecture]
    known = _token_names(folder).values()
    return next((row for row in rows if row.image_token in known), rows[0] if rows else None)


def _relative(row: ModelSpec, folder: Path, config: Config) -> ModelSpec:
    own_prompt = isinstance(row.prompt, ExplicitPrompt) and _has_chat_template(folder)
    return replace(
        row,
        origins=(),
        qaic_modes=(),
        bundled=False,
        prompt=PartsMessage() if own_prompt else row.prompt,
        method="chat" if _has_chat_template(folder) else row.method,
        max_model_len=None,
        own_ctx_len=_limit(config) or row.ctx_len,
        stop_token_ids=_known_ids(row.stop_token_ids, config),
        tensor_parallel_size=None,
        ignore_patterns=(),
        resolution=_resolution(row.resolution, config),
        remote_code=row.remote_code and _has_code(folder),
    )


def _stranger(architecture: str, folder: Path, config: Config) -> ModelSpec:
    if not any(name.startswith(("vision", "visual", "vit")) for name in config):
        known = ", ".join(sorted({row.architecture for row in ROWS}))
        raise UnknownModelError(
            f"The model has the architecture {architecture} and no vision config, so it takes no "
            f"images. These are known: {known}.",
        )
    token = _image_token(folder, config)
    if token is None:
        raise UnknownModelError(
            f"The architecture {architecture} is not in the catalogue, and the model's files do "
            "not say which token stands for an image: it needs a row of its own.",
        )
    has_template = _has_chat_template(folder)
    written: PromptStyle = ExplicitPrompt("{placeholders}\n{question}\n", Placeholders(token))
    return ModelSpec(
        key="",
        label="",
        hf_id="",
        architecture=architecture,
        origins=(),
        split=architecture in HAVE_HALVES,
        prompt=PartsMessage() if has_template else written,
        image_token=token,
        method="chat" if has_template else "generate",
        own_ctx_len=_limit(config) or UNSTATED_CTX_LEN,
        remote_code=_has_code(folder),
    )


def _note(label: str, family: ModelSpec | None) -> str:
    if family is None:
        return f"{label} is not in the catalogue: its row comes from its config and chat template."
    return (
        f"{label} is not in the catalogue: its row is that of {family.label}, with its own limits "
        "and chat template."
    )


def _limit(config: Config) -> int | None:
    """The model's context length in tokens, where the config says."""
    return _of_text(config, "max_position_embeddings")


def _known_ids(ids: tuple[int, ...], config: Config) -> tuple[int, ...]:
    """Those of the family's ids that the model has: vLLM refuses the others."""
    words = _of_text(config, "vocab_size")
    return ids if words is None else tuple(number for number in ids if number < words)


def _of_text(config: Config, name: str) -> int | None:
    """A positive number from the language model's config, where it says one."""
    text = config.get("text_config") or config.get("llm_config") or config
    number = text.get(name) if isinstance(text, Mapping) else None
    return number if isinstance(number, int) and number > 0 else None


def _resolution(resolution: Resolution | None, config: Config) -> Resolution | None:
    """Dynamic families with the model's own patches; sizes of others differ from model to model."""
    vision = config.get("vision_config")
    if not isinstance(resolution, DynamicResolution):
        return None
    if not isinstance(vision, Mapping):
        return resolution
    patch, merge = vision.get("patch_size"), vision.get("spatial_merge_size")
    return replace(
        resolution,
        patch=patch if isinstance(patch, int) and patch > 0 else resolution.patch,
        merge=merge if isinstance(merge, int) and merge > 0 else resolution.merge,
    )


def _image_token(folder: Path, config: Config) -> str | None:
    for name in ("processor_config.json", "tokenizer_config.json"):
        token = (_read(folder / name) or {}).get("image_token")
        if isinstance(token, str):
            return token
    numbers: Sequence[Any] = [config.get("image_token_id"), config.get("image_token_index")]
    names = _token_names(folder)
    return next((names[number] for number in numbers if number in names), None)


def _token_names(folder: Path) -> dict[int, str]:
    """The added tokens that the tokenizer's config names, by id."""
    added = (_read(folder / "tokenizer_config.json") or {}).get("added_tokens_decoder")
    if not isinstance(added, Mapping):
        listed = (_read(folder / "tokenizer.json") or {}).get("added_tokens") or []
        return {token["id"]: token["content"] for token in listed}
    return {int(number): token["content"] for number, token in added.items()}


def _has_code(folder: Path) -> bool:
    """Whether the model's files name classes that come with it."""
    return any("auto_map" in (_read(folder / name) or {}) for name in MAY_NAME_CODE)


def _has_chat_template(folder: Path) -> bool:
    if any((folder / name).is_file() for name in ("chat_template.jinja", "chat_template.json")):
        return True
    return bool((_read(folder / "tokenizer_config.json") or {}).get("chat_template"))


def _read(path: Path) -> dict[str, Any] | None:
    """A JSON object, or None where there is none."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
