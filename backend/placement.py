"""Placement: the bucket that an image was given, and why.

Only the standard library is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Fit = Literal["stretch", "pad"]
Shaping = Literal["stretch", "pad", "crop"]
LossKind = Literal["edges", "shape", "detail"]


@dataclass(frozen=True, slots=True)
class Bucket:
    """A size the vision encoder is compiled for, in pixels.

    `height` and `width` are snapped to the model's factor; `compiled` is the pair as configured,
    or None where the model has no compiled sizes. `tokens` is the number of visual tokens.
    """

    height: int
    width: int
    compiled: tuple[int, int] | None
    tokens: int


@dataclass(frozen=True, slots=True)
class Candidate:
    """One bucket as it was weighed for an image; pixel counts as `select_best_resolution` has."""

    bucket: Bucket
    effective_pixels: int
    wasted_pixels: int
    chosen: bool


@dataclass(frozen=True, slots=True)
class Tiles:
    """A grid of square tiles of `side` pixels, each of so many visual `tokens`.

    With `thumbnail` the whole picture is one more tile.
    """

    rows: int
    columns: int
    side: int
    tokens: int
    thumbnail: bool

    def as_json(self) -> dict[str, Any]:
        """The same as the `tiles` of a bucket."""
        return {name: getattr(self, name) for name in Tiles.__slots__}


@dataclass(frozen=True, slots=True)
class Loss:
    """Something of an image that its bucket cannot keep: what happens, and what to do about it."""

    kind: LossKind
    what: str
    advice: str

    def __str__(self) -> str:
        return f"{self.what}: {self.advice}"


@dataclass(frozen=True, slots=True)
class Placement:
    """The bucket one image was given, and why.

    `aspect_change` is the encoded picture's aspect (width over height) over the image's; 1.0 where
    the aspect is kept. `fit` is `crop` where a family's own processor cuts off the edges.
    `losses` are those worth a warning. `tiles` say how the bucket is cut up.
    """

    bucket: Bucket
    fit: Shaping
    aspect_change: float
    candidates: tuple[Candidate, ...] = ()
    why: str = ""
    losses: tuple[Loss, ...] = ()
    tiles: Tiles | None = None


@dataclass(frozen=True, slots=True)
class PlacedImage:
    """What the answer says about one image of the request."""

    source: str
    width: int
    height: int
    sha256: str
    placement: Placement
    notes: tuple[str, ...] = ()
    cached: bool = False

    def as_json(self) -> dict[str, Any]:
        """The `images` entry of the result object; `tiles` only where the picture is cut up."""
        bucket, tiles = self.placement.bucket, self.placement.tiles
        return {
            "source": self.source,
            "width": self.width,
            "height": self.height,
            "sha256": self.sha256,
            "cached": self.cached,
            "notes": list(self.notes),
            "bucket": {
                "height": bucket.height,
                "width": bucket.width,
                "compiled": list(bucket.compiled) if bucket.compiled else None,
                "tokens": bucket.tokens,
                "fit": self.placement.fit,
                "aspect_change": round(self.placement.aspect_change, 4),
                **({"tiles": tiles.as_json()} if tiles else {}),
            },
        }

    def as_bucket_json(self, ctx_len: int) -> dict[str, Any]:
        """The `buckets` entry: the same, with every candidate, the reason, what the image loses,
        and the context in tokens that it takes its share of.
        """
        candidates = [
            {
                "height": c.bucket.height,
                "width": c.bucket.width,
                "compiled": list(c.bucket.compiled) if c.bucket.compiled else None,
                "tokens": c.bucket.tokens,
                "effective_pixels": c.effective_pixels,
                "wasted_pixels": c.wasted_pixels,
                "chosen": c.chosen,
            }
            for c in self.placement.candidates
        ]
        return {
            **self.as_json(),
            "candidates": candidates,
            "why": self.placement.why,
            "warnings": list(map(str, self.placement.losses)),
            "ctx_len": ctx_len,
        }
