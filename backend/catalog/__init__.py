"""The catalogue: one row of data for each model."""

from backend.catalog.lookup import get_model
from backend.catalog.rows import ROWS
from backend.catalog.spec import ModelSpec

__all__ = ["ROWS", "ModelSpec", "get_model"]
