"""Resolution buckets: which compiled size an image is given, and why.

The rule is the public vllm-qaic plugin's (v0.23.0): heights and widths are zipped pairs; each pair
is snapped with Qwen's `smart_resize`; an image is smart-resized itself, goes to the bucket of
exactly that size if there is one, else to the one that `select_best_resolution` picks for the
smart-resized size, and is then resized to it exactly. Both functions are transformers' own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import ClassVar

from backend.bucket_checks import MAX_ASPECT, check_pairs, name_pair, refuse_twin
from backend.errors import InputError, SettingError
from backend.heavy_imports import heavy_imports
from backend.losses import aspect_change, losses
from backend.placement import Bucket, Candidate, Fit, Placement, Shaping


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

    has_buckets: ClassVar[bool] = True
    """Whether `--heights` and `--widths` mean anything."""

    @property
    def factor(self) -> int:
        return self.patch * self.merge

    @property
    def pixel_limits(self) -> tuple[int, int]:
        """The smallest and the largest area that a size is snapped to, in pixels."""
        return self.min_tokens * self.factor**2, self.max_tokens * self.factor**2

    def sizes(self, heights: tuple[int, ...], widths: tuple[int, ...]) -> tuple[Bucket, ...]:
        """Every size that the encoder may be given, none where nothing is compiled.

        Raises SettingError.
        """
        return compile_buckets(heights, widths, self) if heights or widths else ()

    def place(self, height: int, width: int, buckets: Sequence[Bucket], fit: Fit) -> Placement:
        """What becomes of an image of this height and width in pixels. Raises InputError."""
        if not buckets:
            return keep_size(height, width, self)
        return choose(height, width, buckets, self, fit)

    def snap(self, height: int, width: int) -> tuple[int, int]:
        """The nearest (height, width) in multiples of the factor, within the limits.

        Raises ValueError for an aspect over 200.
        """
        snapped = self.resize(height, width)
        rows, columns = round(height / self.factor), round(width / self.factor)
        is_thin = not rows or not columns
        if is_thin and max(rows, 1) * max(columns, 1) >= self.min_tokens:
            # The plugin's `smart_resize` is qwen_vl_utils', which never rounds a side to nothing.
            # In transformers' it does, and the picture counts as too small and is made larger.
            snapped = self.resize(max(height, self.factor), max(width, self.factor))
        return snapped

    def resize(self, height: int, width: int) -> tuple[int, int]:
        """The (height, width) that transformers' image processor would choose.

        Raises ValueError for an aspect over 200.
        """
        resize = transformers_smart_resize()
        resized: tuple[int, int] = resize(height, width, self.factor, *self.pixel_limits)
        return resized

    def tokens(self, height: int, width: int) -> int:
        """Visual tokens of a snapped size."""
        return (height // self.factor) * (width // self.factor)


@cache
def transformers_smart_resize() -> Callable[..., tuple[int, int]]:
    """The Qwen image processor's rule; the first call takes seconds."""
    with heavy_imports():
        from transformers.models.qwen2_vl.image_processing_qwen2_vl import smart_resize
    found: Callable[..., tuple[int, int]] = smart_resize
    return found


@cache
def transformers_best_resolution() -> Callable[..., tuple[int, int]]:
    """The rule by which one of several sizes is chosen; the first call takes seconds."""
    with heavy_imports():
        from transformers.image_processing_utils import select_best_resolution
    found: Callable[..., tuple[int, int]] = select_best_resolution
    return found


@cache
def compile_buckets(
    heights: tuple[int, ...], widths: tuple[int, ...], resolution: DynamicResolution
) -> tuple[Bucket, ...]:
    """The buckets of zipped heights and widths.

    Raises SettingError where the lists differ in length or are empty, a value is not positive, a
    pair is too long, or two buckets have the same number of visual tokens.
    """
    check_pairs(heights, widths)
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
        refuse_twin(bucket, buckets)
        buckets.append(bucket)
    return tuple(buckets)


def choose(
    height: int, width: int, buckets: Sequence[Bucket], resolution: DynamicResolution, fit: Fit
) -> Placement:
    """The bucket of an image of this height and width in pixels, and why.

    Raises InputError (`image_unreadable`) for an aspect that no bucket can hold.
    """
    try:
        snapped = resolution.snap(height, width)
    except ValueError:
        raise _too_long(height, width) from None
    sizes = [(bucket.height, bucket.width) for bucket in buckets]
    exact = snapped in sizes
    best = snapped if exact else transformers_best_resolution()(snapped, sizes)
    candidates = tuple(Candidate(bucket, *_pixels(snapped, bucket), False) for bucket in buckets)
    winner = candidates[sizes.index(best)]
    return put_in(
        winner.bucket, height, width, candidates, fit, _why(snapped, winner, candidates, exact)
    )


def put_in(
    bucket: Bucket, height: int, width: int, candidates: Sequence[Candidate], fit: Shaping, why: str
) -> Placement:
    """An image of this height and width in that one of the candidates' buckets."""
    return Placement(
        bucket,
        fit,
        aspect_change(height, width, bucket, fit),
        tuple(replace(other, chosen=other.bucket == bucket) for other in candidates),
        why,
        losses(height, width, bucket, fit),
    )


def keep_size(height: int, width: int, resolution: DynamicResolution) -> Placement:
    """No compiled sizes: the model's own processor snaps the image to the model's factor."""
    try:
        size = resolution.resize(height, width)
    except ValueError:
        raise _too_long(height, width) from None
    bucket = Bucket(*size, None, resolution.tokens(*size))
    change = aspect_change(height, width, bucket, "stretch")
    return Placement(
        bucket, "stretch", change, (), "The model takes any size; no bucket applies.",
        losses(height, width, bucket, "stretch"),
    )  # fmt: skip


def _too_long(height: int, width: int) -> InputError:
    return InputError(
        "image_unreadable",
        f"The image is {height} x {width} pixels (height x width); its longer side may be at most "
        f"{MAX_ASPECT} times its shorter side. Crop it and try again.",
    )


def _pixels(snapped: tuple[int, int], bucket: Bucket) -> tuple[int, int]:
    """(effective, wasted) pixels of a bucket, as `select_best_resolution` counts them."""
    height, width = snapped
    scale = min(bucket.width / width, bucket.height / height)
    fitted = int(width * scale) * int(height * scale)
    effective = min(fitted, width * height)
    return effective, bucket.width * bucket.height - effective


def _why(
    snapped: tuple[int, int], winner: Candidate, candidates: Sequence[Candidate], exact: bool
) -> str:
    size = f"In whole visual tokens the image is {snapped[0]}x{snapped[1]} (height x width)"
    if exact:
        return f"{size}, which is a bucket."
    kept = winner.effective_pixels
    equals = sum(other.effective_pixels == kept for other in candidates) - 1
    fewest = ""
    if equals:
        as_others = f"as {equals} {'other does' if equals == 1 else 'others do'}"
        fewest = f", {as_others}, and of these wastes the fewest ({winner.wasted_pixels:,})"
    return (
        f"{size}; {name_pair(winner.bucket)} keeps the most of its pixels ({kept:,}){fewest}."
        f"{_all_lie_otherwise(snapped, candidates)}"
    )


def _all_lie_otherwise(snapped: tuple[int, int], candidates: Sequence[Candidate]) -> str:
    """Said where no bucket is of the picture's kind, which is why it cannot keep its shape."""
    height, width = snapped
    sizes = [(other.bucket.height, other.bucket.width) for other in candidates]
    if height > width and all(h < w for h, w in sizes):
        return " Every bucket is wider than it is tall, and this image is taller than it is wide."
    if height < width and all(h > w for h, w in sizes):
        return " Every bucket is taller than it is wide, and this image is wider than it is tall."
    return ""
