"""All rows. A new model is one more row of data; nothing else knows models by name."""

from backend.catalog import (
    rows_bifocal,
    rows_qaic,
    rows_vllm_dropped,
    rows_vllm_explicit,
    rows_vllm_processor,
    rows_vllm_tokenizer,
)
from backend.catalog.spec import ModelSpec

ROWS: tuple[ModelSpec, ...] = (
    *rows_bifocal.BUNDLED,
    *rows_qaic.ROWS,
    *rows_vllm_processor.ROWS,
    *rows_vllm_tokenizer.ROWS,
    *rows_vllm_explicit.ROWS,
    *rows_vllm_dropped.ROWS,
    *rows_bifocal.ADDED,
)
