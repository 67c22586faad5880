"""QaicRow: what the QAIC plugin's own examples and tables have for one model.

Source: vllm-qaic v0.23.0, `examples/qaic_vision_language.py` (ahead of time compiled),
`examples/qaic_eager_mode_vision_language.py` and the table of models of its eager mode.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class QaicRow:
    """The QAIC part of a row."""

    aot_processor: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the multimodal processor where the model is compiled ahead of time."""

    eager_processor: Mapping[str, Any] = field(default_factory=dict)
    """Arguments of the multimodal processor in eager mode."""

    takes_grid: bool = False
    """Whether the decoder takes rows with a grid an image, which the plugin's processor fills in:
    families with dynamic resolution do."""

    eager_devices: int | None = None
    """QIDs that the engine spans in eager mode; None where nobody says."""
