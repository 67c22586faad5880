"""A model's tokenizer from files that are already on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backend.catalog.lookup import model_path
from backend.heavy_imports import heavy_imports
from backend.plan import Plan


def local_tokenizer(plan: Plan) -> Any:
    """The tokenizer, or None where that would need a download or code that is not allowed."""
    path = model_path(plan.spec)
    if not _has_files(path) or (plan.spec.remote_code and not plan.trust_remote_code):
        return None
    with heavy_imports():
        from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(
            path, local_files_only=True, trust_remote_code=plan.trust_remote_code
        )
    except (OSError, ValueError):
        # Part of the files, or of a tokenizer that this version does not know.
        return None


def _has_files(path: str) -> bool:
    if Path(path).is_dir():
        return True
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(path, "tokenizer_config.json"), str)
