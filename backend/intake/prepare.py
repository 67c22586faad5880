"""Picture: a loaded image with its bucket; and the same at exactly the bucket's size."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from backend.engines.protocols import PreparedImage
from backend.fitting import fit_into
from backend.placement import Fit, PlacedImage, Placement
from backend.plan import Plan
from backend.shared_bucket import share_bucket
from backend.types import LoadedImage


@dataclass(frozen=True, slots=True)
class Picture:
    """An image with its place. `digest` identifies model, pixels, bucket and fit together."""

    image: LoadedImage
    placement: Placement
    digest: str


def place_picture(image: LoadedImage, plan: Plan, fit: Fit | None = None) -> Picture:
    """Choose the bucket. Raises InputError for an aspect that none can hold."""
    placement = plan.resolution.place(image.height, image.width, plan.buckets, fit or plan.fit)
    return _picture(image, placement, plan)


def place_together(pictures: Sequence[Picture], plan: Plan) -> list[Picture]:
    """The pictures of one request, in one bucket where the target demands that.

    Each must have been placed by itself.
    """
    if not plan.one_bucket:
        return list(pictures)
    together = _share([picture.image for picture in pictures], [p.placement for p in pictures])
    return [
        _picture(picture.image, placement, plan)
        for picture, placement in zip(pictures, together, strict=True)
    ]


def placements_together(images: Sequence[PlacedImage], plan: Plan) -> list[Placement]:
    """The same of images of which only the size is known any more."""
    own = [image.placement for image in images]
    return _share(images, own) if plan.one_bucket else own


def _share(
    images: Sequence[LoadedImage] | Sequence[PlacedImage], own: Sequence[Placement]
) -> list[Placement]:
    return share_bucket([(image.height, image.width) for image in images], own)


def _picture(image: LoadedImage, placement: Placement, plan: Plan) -> Picture:
    return Picture(image, placement, picture_digest(image.sha256, placement, plan))


def picture_digest(sha256: str, placement: Placement, plan: Plan) -> str:
    """What an embedding is cached by."""
    bucket = placement.bucket
    key = f"{plan.model}|{sha256}|{bucket.height}x{bucket.width}|{placement.fit}"
    return hashlib.sha256(key.encode()).hexdigest()


def prepare_picture(picture: Picture) -> PreparedImage:
    """Resize into the bucket. Blocking.

    Where nothing is compiled, the family's own processor resizes: it gets the picture as it is.
    """
    bucket = picture.placement.bucket
    pixels = picture.image.pixels
    if bucket.compiled:
        pixels = fit_into(pixels, bucket, picture.placement.fit)
    return PreparedImage(pixels, picture.image.sha256, bucket, picture.digest)
