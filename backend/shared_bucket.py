"""One bucket for all images of a request, where the target cannot mix sizes.

The vllm-qaic plugin (v0.23.0) takes all images of a request at one size. The bucket is the one that
is least bad for whichever image it is worst for: it has the smallest greatest loss, an image's loss
being the share of the effective pixels of its own best bucket that it does not keep. Among equals
the one with the fewest wasted pixels, all images together, wins, then the first in the list.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from backend.bucket_checks import name_pair
from backend.buckets import put_in
from backend.placement import Bucket, Candidate, Placement

RULE = "All images of a request share one bucket on QAIC"


def share_bucket(
    sizes: Sequence[tuple[int, int]], placements: Sequence[Placement]
) -> list[Placement]:
    """The placements of images of these (height, width) in pixels in one bucket.

    `placements` are each image's own; all were weighed against the same candidates. A single image
    keeps its own.
    """
    if len(placements) < 2:
        return list(placements)
    shared = least_bad([placement.candidates for placement in placements])
    return [
        put_in(shared, *size, own.candidates, own.fit, _why(own, shared))
        for size, own in zip(sizes, placements, strict=True)
    ]


def least_bad(images: Sequence[Sequence[Candidate]]) -> Bucket:
    """The bucket to share, of the candidates of each image."""
    count = len(images[0])
    best = min(range(count), key=lambda index: (_worst_loss(images, index), _waste(images, index)))
    return images[0][best].bucket


def _worst_loss(images: Sequence[Sequence[Candidate]], index: int) -> Fraction:
    """Exact, because a rounding error would decide between equals."""
    return max(_loss(candidates, index) for candidates in images)


def _loss(candidates: Sequence[Candidate], index: int) -> Fraction:
    most = max(candidate.effective_pixels for candidate in candidates)
    return 1 - Fraction(candidates[index].effective_pixels, most) if most else Fraction(0)


def _waste(images: Sequence[Sequence[Candidate]], index: int) -> int:
    return sum(candidates[index].wasted_pixels for candidates in images)


def _why(own: Placement, shared: Bucket) -> str:
    if own.bucket == shared:
        return f"{RULE}; it is this image's own. {own.why}"
    kept = {c.bucket: c.effective_pixels for c in own.candidates}
    share = Fraction(kept[shared], kept[own.bucket]) if kept[own.bucket] else Fraction(1)
    return (
        f"{RULE}: {name_pair(shared)} is the least bad for the image that loses most. Alone this "
        f"image would be given {name_pair(own.bucket)}; it keeps {100 * float(share):.0f} % of the "
        "pixels that it would keep there."
    )
