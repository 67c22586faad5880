"""Ways to speak of an object: `the red star`, `the star`, `the red shape`."""

from __future__ import annotations

import random
from dataclasses import dataclass

from .scene import Item, Scene
from .vocabulary import COLORS, SHAPES, SIZES, plural


@dataclass(frozen=True)
class Referent:
    """A way to speak of an object, such as `red star`, and the objects it fits."""

    shape: str | None
    color: str | None
    size: str | None

    @property
    def noun(self) -> str:
        return " ".join(part for part in (self.size, self.color, self.shape or "shape") if part)

    @property
    def nouns(self) -> str:
        many = plural(self.shape) if self.shape else "shapes"
        return " ".join(part for part in (self.size, self.color, many) if part)

    def fits(self, item: Item) -> bool:
        return (
            self.shape in (None, item.shape)
            and self.color in (None, item.color)
            and self.size in (None, item.size)
        )

    def among(self, scene: Scene) -> list[Item]:
        return [item for item in scene.items if self.fits(item)]


def refer(rng: random.Random, scene: Scene, missing: float = 0.0) -> Referent:
    """A referent for an object of the scene; with probability `missing`, a made-up one."""
    if not scene.items or rng.random() < missing:
        shape, color = rng.choice(SHAPES), rng.choice(tuple(COLORS))
        size = rng.choice(SIZES)
        if scene.items and rng.random() < 0.6:
            near = rng.choice(scene.items)
            shape, color = rng.choice(((near.shape, color), (shape, near.color)))
    else:
        item = rng.choice(scene.items)
        shape, color, size = item.shape, item.color, item.size
    form = rng.random()
    if form < 0.4:
        return Referent(shape, color, None)
    if form < 0.7:
        return Referent(shape, None, None)
    if form < 0.85:
        return Referent(None, color, None)
    return Referent(shape, color, size) if form < 0.95 else Referent(shape, None, size)
