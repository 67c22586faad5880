"""What an image loses in its bucket, in plain words: its shape, its detail, or its edges."""

from __future__ import annotations

from backend.placement import Bucket, Loss, Shaping

WARN_ABOVE = 1.15
"""A side stretched or shrunk by more than this factor is worth a warning."""

CUT_ABOVE = 0.01
"""Share of a side: less than this cut off is not seen."""


def aspect_change(height: int, width: int, bucket: Bucket, fit: Shaping) -> float:
    """The encoded picture's aspect (width over height) over the image's; 1.0 where it is kept."""
    if fit != "stretch":
        return 1.0
    return (bucket.width / bucket.height) / (width / height)


def shrinking(height: int, width: int, bucket: Bucket, fit: Shaping) -> tuple[float, float]:
    """(height, width) of the image over what they become; below 1 where it is enlarged."""
    down, across = height / bucket.height, width / bucket.width
    if fit == "stretch":
        return down, across
    kept = max(down, across) if fit == "pad" else min(down, across)
    return kept, kept


def losses(height: int, width: int, bucket: Bucket, fit: Shaping) -> tuple[Loss, ...]:
    """Those of an image of this height and width in pixels that are worth a warning."""
    found = (
        _of_edges(height, width, bucket, fit),
        _of_shape(aspect_change(height, width, bucket, fit), bucket),
        _of_detail(*shrinking(height, width, bucket, fit), bucket),
    )
    return tuple(loss for loss in found if loss)


def _of_edges(height: int, width: int, bucket: Bucket, fit: Shaping) -> Loss | None:
    down, across = height / bucket.height, width / bucket.width
    cut = 1 - min(down, across) / max(down, across)
    if fit != "crop" or cut < CUT_ABOVE:
        return None
    sides = "left and right" if across > down else "top and bottom"
    return Loss(
        "edges",
        f"{cut * 100:.0f} % of the picture is cut off at its {sides}",
        "only the middle is seen. Crop it yourself to choose what stays.",
    )


def _of_shape(change: float, bucket: Bucket) -> Loss | None:
    factor = max(change, 1 / change)
    if factor <= WARN_ABOVE:
        return None
    side = "width" if change > 1 else "height"
    # Where nothing is compiled, the family's own processor resizes, and it knows no padding.
    cure = "The fit “pad” keeps its shape." if bucket.compiled else "Crop it nearer to that shape."
    return Loss(
        "shape",
        f"The picture is stretched to {_times(factor)} times its {side}",
        f"proportions may be misread. {cure}",
    )


def _of_detail(down: float, across: float, bucket: Bucket) -> Loss | None:
    if max(down, across) <= WARN_ABOVE:
        return None
    cure = (
        "Crop it to the part that matters; larger buckets are set with --heights and --widths when "
        "the app is started."
        if bucket.compiled
        else "Crop it to the part that matters."
    )
    return Loss(
        "detail",
        f"The picture is shrunk {_sides(down, across)}",
        f"small lettering may get lost. {cure}",
    )


def _sides(down: float, across: float) -> str:
    """By what factor each side is divided."""
    if max(down, across) / min(down, across) < 1.05:
        return f"by a factor of {_times(down)} per side"
    named = [(down, "height"), (across, "width")]
    parts = [f"{_times(value)} in {side}" for value, side in named if value >= 1.05]
    return f"by a factor of {' and '.join(parts)}"


def _times(factor: float) -> str:
    """Two digits, and no exponent."""
    return f"{factor:.0f}" if factor >= 10 else f"{factor:.2g}"
