"""The one tree of errors that a person can cause or meet.

Every error has a `code` (a short snake_case noun that scripts may test) and a message that says
what is wrong, what is allowed and what to do. Foreign exceptions become one of these where they
arise; nothing above that place catches anything else.
"""

from typing import ClassVar


class BifocalError(Exception):
    """Root of everything Bifocal reports to a person or a program."""

    exit_status: ClassVar[int] = 2
    may_pass: bool = False
    """Whether the same may well work when it is tried again."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    def as_json(self) -> dict[str, dict[str, str]]:
        """The error object of the command line and the API."""
        return {"error": {"code": self.code, "message": self.message}}

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InputError(BifocalError):
    """The request itself cannot be answered: an image, a URL, a prompt, a limit."""


class SettingError(BifocalError):
    """A flag, an environment variable or a combination of settings is wrong."""

    def __init__(self, message: str, code: str = "bad_setting") -> None:
        super().__init__(code, message)


class ModelError(BifocalError):
    """The model's files cannot be had, or are not what they should be."""

    exit_status = 3


class UnknownModelError(ModelError):
    """No model goes by this name: a wrong flag like any other."""

    exit_status = 2

    def __init__(self, message: str) -> None:
        super().__init__("unknown_model", message)


class BusyError(BifocalError):
    """There is no place left in the queue; the same request may succeed later."""

    exit_status = 3
    may_pass = True

    def __init__(self, message: str) -> None:
        super().__init__("busy", message)


class EngineError(BifocalError):
    """An engine could not start, died, or refused a request that should have been right."""

    exit_status = 3

    def __init__(
        self, message: str, code: str = "engine_failed", *, may_pass: bool = False
    ) -> None:
        super().__init__(code, message)
        self.may_pass = may_pass
