"""Counting what half an engine really holds; vLLM mixes `Census` into its workers."""

from __future__ import annotations

from typing import Any

from torch import nn


def count_parameters(model: nn.Module) -> dict[str, int]:
    """Parameters by top-level part of the model, each shared tensor counted once.

    To be called before weights are loaded: vLLM's CPU kernels repack them out of the model.
    """
    counts: dict[str, int] = {}
    for name, parameter in model.named_parameters():
        part = name.partition(".")[0]
        counts[part] = counts.get(part, 0) + parameter.numel()
    return counts


class Census:
    """Asked with `collective_rpc("census")`; `model_runner` is the worker's own."""

    model_runner: Any

    def census(self) -> dict[str, int]:
        """What `vision_only` or `language_only` counted when the model was built.

        Of an ordinary model, what it holds now: on the CPU that may be less, see above.
        """
        model = self.model_runner.get_model()
        counts: dict[str, int] | None = getattr(model, "parameter_counts", None)
        return counts or count_parameters(model)
