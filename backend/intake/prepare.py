"""Picture: a loaded image with its bucket; and the same at exactly the bucket's size."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from backend.buckets import choose, fit_into
from backend.engines.protocols import PreparedImage
from backend.plan import Plan
from backend.types import Fit, LoadedImage, Placement


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with its place. `digest` identifies model, pixels, bucket and fit together."""

    image: LoadedImage
    placement: Placement
    digest: str


def place_picture(image: LoadedImage, plan: Plan, fit: Fit | None = None) -> Picture:
    """Choose the bucket. Raises InputError for an aspect that none can hold."""
    placement = choose(
        image.height, image.width, plan.buckets, plan.spec.resolution, fit or plan.fit
    )
    bucket = placement.bucket
    key = f"{plan.model}|{image.sha256}|{bucket.height}x{bucket.width}|{placement.fit}"
    return Picture(image, placement, hashlib.sha256(key.encode()).hexdigest())


def prepare_picture(picture: Picture) -> PreparedImage:
    """Resize into the bucket. Blocking."""
    bucket = picture.placement.bucket
    pixels = fit_into(picture.image.pixels, bucket, picture.placement.fit)
    return PreparedImage(pixels, picture.image.sha256, bucket, picture.digest)
