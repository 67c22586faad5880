"""Photographs for the model to refuse, from Python packages and folders of pictures.

    python -m assets.demo_model.training.photos OUT [FOLDER ...]

writes those for training, at one size. Those in HELD_OUT are kept for evaluation.
"""

from __future__ import annotations

import argparse
import importlib.util
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from PIL import Image

SIZE: Final = (960, 720)
PACKAGES: Final[dict[str, str]] = {
    "gradio": "media_assets/images",
    "skimage": "data",
    "sklearn": "datasets/images",
}
"""Package -> where its pictures lie."""
HELD_OUT: Final[frozenset[str]] = frozenset(
    (
        "lion.jpg",
        "tower.jpg",
        "groot.jpeg",
        "astronaut.png",
        "coffee.png",
        "chelsea.png",
        "rocket.jpg",
        "flower.jpg",
    )
)
LEFT_OUT: Final[frozenset[str]] = frozenset(
    (
        "logo.png",
        "phantom.png",
        "horse.png",
        "chessboard_GRAY.png",
        "chessboard_RGB.png",
        "color.png",
        "clock_motion.png",
        "text.png",
        "cheetah1-copy.jpg",
    )
)
"""No photographs."""
SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".webp")


def packaged() -> Iterator[Path]:
    """The pictures of the packages installed here."""
    for package, folder in PACKAGES.items():
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.origin is not None:
            yield from sorted((Path(spec.origin).parent / folder).iterdir())


def usable(path: Path) -> bool:
    return path.suffix.lower() in SUFFIXES and path.name not in LEFT_OUT


def held_out(folders: Sequence[Path] = ()) -> list[Path]:
    """The photographs for evaluation that are installed here, or lie in these folders."""
    found = [*packaged(), *(path for folder in folders for path in sorted(folder.iterdir()))]
    return [path for path in found if usable(path) and path.name in HELD_OUT]


def collect(out: Path, folders: list[Path]) -> int:
    """Write the training pictures; returns how many."""
    out.mkdir(parents=True, exist_ok=True)
    found = [path for path in packaged() if usable(path) and path.name not in HELD_OUT]
    for folder in folders:
        found += [path for path in sorted(folder.rglob("*")) if usable(path) and path.is_file()]
    written = 0
    for path in found:
        with Image.open(path) as image:
            if min(image.size) < 200:
                continue
            picture = image.convert("RGB").resize(SIZE, Image.Resampling.LANCZOS)
        picture.save(out / f"{written:03}.jpg", quality=82)
        written += 1
    return written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="*")
    arguments = parser.parse_args()
    print(collect(arguments.out, arguments.folders), "pictures")


if __name__ == "__main__":
    main()
