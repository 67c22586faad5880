"""Families of models as checkpoints of a few hundred kilobytes with random weights."""
