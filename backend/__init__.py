"""Bifocal's backend: intake, buckets, prompts, and the two vLLM engines.

Importing this package imports nothing else. `ui` and `launch` use `backend.service`,
`backend.types`, `backend.errors` and `backend.settings`; the rest is private to the backend.
"""
