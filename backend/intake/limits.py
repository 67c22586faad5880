"""What intake accepts, in one value."""

from dataclasses import dataclass

from backend.settings import Settings


@dataclass(frozen=True, slots=True)
class IntakeLimits:
    """Bytes and pixels of one image; seconds and reach of one URL."""

    max_bytes: int
    max_pixels: int
    fetch_timeout_s: float
    allow_private: bool
    allow_ports: tuple[int, ...]


def intake_limits(settings: Settings) -> IntakeLimits:
    """The limits of the current settings."""
    return IntakeLimits(
        max_bytes=settings.max_upload_mb * 1_000_000,
        max_pixels=int(settings.max_megapixels * 1_000_000),
        fetch_timeout_s=settings.fetch_timeout,
        allow_private=settings.allow_private_urls,
        allow_ports=settings.allow_ports,
    )
