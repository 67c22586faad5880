"""ServerAddress: one `vllm serve` of `--topology remote`, and reading them from the settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from backend.errors import SettingError
from backend.settings import Settings, flag

EXAMPLE = "http://127.0.0.1:8000 or https://gpu1.example.org"


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """Where a server is: `http` or `https`, host, port and perhaps a path, without a slash behind.

    `key` is what it was given as `--api-key`; it is in no message and no log.
    """

    url: str
    key: str | None = field(default=None, repr=False)

    @property
    def port(self) -> int:
        """The port, also where the address leaves it out."""
        parts = urlsplit(self.url)
        return parts.port or (443 if parts.scheme == "https" else 80)


def remote_servers(settings: Settings) -> dict[str, tuple[ServerAddress, ...]]:
    """The servers by role, `vision` and `language`; none but with `--topology remote`.

    Raises SettingError for an address or a number of keys that cannot be right.
    """
    roles = ("vision", "language")
    if settings.topology != "remote":
        for role in roles:
            for name in (f"{role}_url", f"{role}_api_key"):
                if getattr(settings, name):
                    raise SettingError(
                        f"{flag(name)} is for --topology remote, and the topology is "
                        f"{settings.topology}: leave one of them out."
                    )
        return {}
    return {
        role: _servers(role, getattr(settings, f"{role}_url"), getattr(settings, f"{role}_api_key"))
        for role in roles
    }


def _servers(role: str, urls: Sequence[str], keys: Sequence[str]) -> tuple[ServerAddress, ...]:
    name = flag(f"{role}_url")
    if not urls:
        raise SettingError(
            f"--topology remote needs {name}: the address of a `vllm serve`, or several separated "
            f"by commas (for example {EXAMPLE}). `engine-args --topology remote` prints how to "
            "start one."
        )
    if len(keys) not in (0, 1, len(urls)):
        raise SettingError(
            f"{flag(f'{role}_api_key')} has {len(keys)} keys for {len(urls)} addresses: give one "
            "for all of them, or one for each in their order."
        )
    found = [_checked(name, url) for url in urls]
    if len(set(found)) < len(found):
        raise SettingError(f"{name} names an address twice; name each one once.")
    if len(keys) == 1:
        keys = list(keys) * len(found)
    nobodys: list[str | None] = [None] * len(found)
    return tuple(map(ServerAddress, found, list(keys) or nobodys))


def _checked(name: str, url: str) -> str:
    """The address in one spelling."""
    wrong = f"{name}: %s; an address is like {EXAMPLE}."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise SettingError(wrong % f"{url!r} cannot be read as an address") from None
    if parts.username or parts.password:
        raise SettingError(
            f"{name} has a user or a password in an address: give keys with "
            f"{name.replace('url', 'api-key')}, best as an environment variable."
        )
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise SettingError(wrong % f"{url!r} has no http or https, or no host")
    if parts.query or parts.fragment:
        raise SettingError(wrong % f"{url!r} has more than a path behind the host")
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
