"""Which model classes the installed vLLM has; vLLM is imported only when somebody asks."""

from __future__ import annotations

from collections.abc import Set

from backend.catalog.spec import ModelSpec
from backend.engines.version import installed_vllm
from backend.errors import EngineError, ModelError
from backend.heavy_imports import heavy_imports


def known_architectures() -> Set[str]:
    """Every architecture of the installed vLLM, by the name in a model's config.

    Takes seconds the first time. Raises EngineError where vLLM cannot be imported.
    """
    try:
        with heavy_imports():
            from vllm.model_executor.models.registry import ModelRegistry
    except ImportError as error:
        raise EngineError(
            f"vLLM cannot be imported ({error}). Run `make install` again."
        ) from error
    return frozenset(ModelRegistry.get_supported_archs())


def refuse_unknown_architecture(spec: ModelSpec) -> None:
    """Raises ModelError (`model_unavailable`) for a model the installed vLLM cannot run."""
    if spec.architecture in known_architectures():
        return
    since = f", whose last version with it was {spec.last_vllm}" if spec.last_vllm else ""
    raise ModelError(
        "model_unavailable",
        f"{spec.label} needs the architecture {spec.architecture}, which the installed vLLM "
        f"({installed_vllm()}) does not have{since}. Choose another model; `launch.py models` says "
        "which can run.",
    )
