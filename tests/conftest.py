"""Shared by all tests: no network for models, no settings from this machine."""

import os

import pytest

os.environ["HF_HUB_OFFLINE"] = "1"


@pytest.fixture(autouse=True)
def no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """A developer's own BIFOCAL_ variables must not reach the tests."""
    for name in list(os.environ):
        if name.upper().startswith("BIFOCAL_"):
            monkeypatch.delenv(name)
