"""For all tests."""

import signal

import pytest


def pytest_configure(config: pytest.Config) -> None:
    """Ctrl-C interrupts what tests start, also where a shell that runs them aside ignores it:
    a process passes that on to its children."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
