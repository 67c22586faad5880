"""Who asks: as far as limits and logs need to know."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """One visitor. `session` tells visitors apart, `address` the machines they are at.

    Empty where there is only one, as on the command line.
    """

    session: str = ""
    address: str = ""


LOCAL = Client()
"""The person at this terminal."""
