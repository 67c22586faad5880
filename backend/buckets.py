"""Resolution buckets: which compiled size an image is given, and how it is fitted into it.

The rule is the public vllm-qaic plugin's (v0.23.0): heights and widths are zipped pairs; each pair
is snapped with Qwen's `smart_resize`; an image is smart-resized itself, goes to the bucket of
exactly that size if there is one, else to the one that `select_best_resolution` picks for the
smart-resized size, and is then resized to it exactly. Both functions are transformers' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from backend.errors import InputError, SettingError
from backend.types import Bucket, Candidate, Fit, Placement

if TYPE_CHECKING:
    from PIL.Image import Image

MAX_ASPECT = 200
"""`smart_resize` refuses a longer side of more than this many shorter ones."""

PAD_COLOUR = (127, 127, 127)
"""Mid grey: close to zero once normalised."""


@dataclass(frozen=True, slots=True)
class DynamicResolution:
    """How a family with dynamic resolution cuts pictures.

    `factor` is patch x merge, in pixels a visual token's side: 28 for Qwen2.5-VL, 32 for Qwen3-VL.
    The plugin's limits are 4 and 16384 visual tokens unless the model gives others.
    """

    patch: int = 14
    merge: int = 2
    min_tokens: int = 4
    max_tokens: int = 16384

    @property
    def factor(self) -> int:
        return self.patch * self.merge

    def snap(self, height: int, width: int) -> tuple[int, int]:
        """The nearest (height, width) in multiples of the factor, within the limits.

        Raises ValueError for an aspect over 200.
        """
        from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize

        area = self.factor**2
        snapped: tuple[int, int] = smart_resize(
            height, width, self.factor, self.min_tokens * area, self.max_tokens * area
        )
        return snapped

    def tokens(self, height: int, width: int) -> int:
        """Visual tokens of a snapped size."""
        return (height // self.factor) * (width // self.factor)


@cache
def compile_buckets(
    heights: tuple[int, ...], widths: tuple[int, ...], resolution: DynamicResolution
) -> tuple[Bucket, ...]:
    """The buckets of zipped heights and widths.

    Raises SettingError where the lists differ in length or are empty, a value is not positive, or
    two buckets have the same number of visual tokens (the plugin finds the grid by that number).
    """
    if len(heights) != len(widths) or not heights:
        raise SettingError(
            f"--heights and --widths are pairs and must be equally long: there are {len(heights)} "
            f"heights and {len(widths)} widths."
        )
    if any(value < 1 for value in (*heights, *widths)):
        raise SettingError("--heights and --widths are pixels and must be positive.")
    buckets: list[Bucket] = []
    for compiled in zip(heights, widths, strict=True):
        try:
            height, width = resolution.snap(*compiled)
        except ValueError:
            raise SettingError(
                f"The bucket {compiled[0]}x{compiled[1]} is longer than {MAX_ASPECT} times its "
                "shorter side: choose another pair of --heights and --widths."
            ) from None
        bucket = Bucket(height, width, compiled, resolution.tokens(height, width))
        twin = next((other for other in buckets if other.tokens == bucket.tokens), None)
        if twin:
            raise SettingError(
                f"The buckets {_pair(twin)} and {_pair(bucket)} both have {bucket.tokens} visual "
                "tokens, and the decoder tells buckets apart by that number: change one pair of "
                "--heights and --widths."
            )
        buckets.append(bucket)
    return tuple(buckets)


def choose(
    height: int, width: int, buckets: Sequence[Bucket], resolution: DynamicResolution, fit: Fit
) -> Placement:
    """The bucket of an image of this height and width in pixels, and why.

    Raises InputError (`image_unreadable`) for an aspect that no bucket can hold.
    """
    from transformers.image_processing_utils import select_best_resolution

    snapped = _snap_image(height, width, resolution)
    sizes = [(bucket.height, bucket.width) for bucket in buckets]
    exact = snapped in sizes
    best = snapped if exact else tuple(select_best_resolution(snapped, sizes))
    candidates = tuple(
        Candidate(bucket, *_pixels(snapped, bucket), chosen=(bucket.height, bucket.width) == best)
        for bucket in buckets
    )
    winner = next(candidate for candidate in candidates if candidate.chosen)
    bucket = winner.bucket
    change = 1.0 if fit == "pad" else (bucket.width / bucket.height) / (width / height)
    return Placement(bucket, fit, change, candidates, _why(snapped, winner, exact))


def keep_size(height: int, width: int, resolution: DynamicResolution) -> Placement:
    """No compiled sizes: the image only snaps to the model's factor."""
    snapped = _snap_image(height, width, resolution)
    bucket = Bucket(*snapped, None, resolution.tokens(*snapped))
    change = (snapped[1] / snapped[0]) / (width / height)
    return Placement(bucket, "stretch", change, (), "The model takes any size; no bucket applies.")


def _snap_image(height: int, width: int, resolution: DynamicResolution) -> tuple[int, int]:
    try:
        return resolution.snap(height, width)
    except ValueError:
        raise InputError(
            "image_unreadable",
            f"The image is {width} x {height} pixels; its longer side may be at most {MAX_ASPECT} "
            "times its shorter side. Crop it and try again.",
        ) from None


def fit_into(pixels: Image, bucket: Bucket, fit: Fit) -> Image:
    """The picture at exactly the bucket's size, stretched or letterboxed."""
    from PIL import Image as PIL
    from PIL import ImageOps

    size = (bucket.width, bucket.height)
    if fit == "pad":
        return ImageOps.pad(pixels, size, PIL.Resampling.BICUBIC, color=PAD_COLOUR)
    return pixels if pixels.size == size else pixels.resize(size, PIL.Resampling.BICUBIC)


def _pixels(original: tuple[int, int], bucket: Bucket) -> tuple[int, int]:
    """(effective, wasted) pixels of a bucket, as `select_best_resolution` counts them."""
    height, width = original
    scale = min(bucket.width / width, bucket.height / height)
    fitted = int(width * scale) * int(height * scale)
    effective = min(fitted, width * height)
    return effective, bucket.width * bucket.height - effective


def _why(snapped: tuple[int, int], winner: Candidate, exact: bool) -> str:
    if exact:
        return f"The image snaps to {snapped[0]}x{snapped[1]}, which is a bucket."
    return (
        f"The image snaps to {snapped[0]}x{snapped[1]} (height x width); {_pair(winner.bucket)} "
        f"keeps the most of its pixels ({winner.effective_pixels:,}) and, among equals, wastes the "
        f"fewest ({winner.wasted_pixels:,})."
    )


def _pair(bucket: Bucket) -> str:
    return f"{bucket.height}x{bucket.width}"
