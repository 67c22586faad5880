"""The adapter that a model's row names, as vLLM takes it with every request."""

from __future__ import annotations

from pathlib import Path

from vllm.lora.request import LoRARequest

from backend.catalog.lookup import model_path
from backend.catalog.spec import ModelSpec


def lora_request(spec: ModelSpec) -> LoRARequest | None:
    """None where the row names none. Downloads the adapter's files if they are not there yet."""
    if spec.lora is None:
        return None
    folder = _files(model_path(spec), spec.lora.folder)
    return LoRARequest(spec.lora.name, spec.lora.number, str(folder / spec.lora.folder))


def _files(model: str, folder: str) -> Path:
    if Path(model).is_dir():
        return Path(model)
    from huggingface_hub import snapshot_download

    return Path(snapshot_download(model, allow_patterns=[f"{folder}/*"]))
