"""Tests that need no engine, no GPU and no network."""
