"""What `vision_only` and `language_only` share: classes derived from upstream's, made on demand."""

from collections.abc import Callable
from functools import cache

from torch import nn
from vllm.model_executor.models.registry import ModelRegistry


def upstream_class(architecture: str) -> type[nn.Module]:
    """vLLM's class of an architecture; AttributeError where it has none."""
    registered = ModelRegistry.models.get(architecture)
    if registered is None:
        raise AttributeError(f"vLLM has no architecture {architecture}")
    model_class: type[nn.Module] = registered.load_model_cls()
    return model_class


def on_demand(
    prefix: str, module: str, derive: Callable[[type[nn.Module]], type[nn.Module]]
) -> Callable[[str], type[nn.Module]]:
    """A module's `__getattr__` that answers `prefix + X` with the class derived from upstream's X.

    The class bears the name it is asked for, once: vLLM compares and caches classes by name.
    """

    @cache
    def named(name: str) -> type[nn.Module]:
        if not name.startswith(prefix):
            raise AttributeError(name)
        derived = derive(upstream_class(name.removeprefix(prefix)))
        derived.__name__ = derived.__qualname__ = name
        derived.__module__ = module
        return derived

    return named
