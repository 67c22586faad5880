"""Profile: a picture's own colour space, turned into sRGB."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache

from PIL import Image, ImageChops, ImageCms

SPACES = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}
"""Modes that profiles are applied to, and the colour space a profile must be for."""

NEGLIGIBLE = 1
"""Levels of 255. A profile that changes no colour by more is sRGB under one of its many names."""


def to_srgb(mode: str, profile: bytes | None) -> Callable[[Image.Image], Image.Image]:
    """What turns pictures of mode L, RGB or CMYK into sRGB, through their ICC profile if it helps.

    A profile that is broken, or that is not for such a picture, is ignored.
    """
    if profile:
        try:
            return _through(mode, profile)
        except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
            pass  # As viewers do: the picture is worth more than its profile.
    return _plain


def lab_to_srgb() -> Callable[[Image.Image], Image.Image]:
    """What turns pictures of mode LAB into sRGB."""
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    transform = ImageCms.buildTransform(lab, _srgb(), "LAB", "RGB")
    return lambda image: _applied(image, transform)


def _plain(image: Image.Image) -> Image.Image:
    return image.convert("RGB") if image.mode != "RGB" else image


def _through(mode: str, profile: bytes) -> Callable[[Image.Image], Image.Image]:
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    space = source.profile.xcolor_space.strip()
    read_as = "RGB" if mode == "L" and space == "RGB" else mode
    if space != SPACES[read_as]:
        return _plain
    transform = ImageCms.buildTransform(source, _srgb(), read_as, "RGB")
    if read_as != "CMYK" and _changes_little(transform, read_as):
        return _plain

    def through(image: Image.Image) -> Image.Image:
        image = image if image.mode == read_as else image.convert(read_as)
        try:
            return _applied(image, transform)
        except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
            return _plain(image)

    return through


def _changes_little(transform: ImageCms.ImageCmsTransform, mode: str) -> bool:
    probe = _probe().convert(mode)
    difference = ImageChops.difference(_applied(probe, transform), probe.convert("RGB"))
    return max(high for _, high in difference.getextrema()) <= NEGLIGIBLE  # type: ignore[misc]


def _applied(image: Image.Image, transform: ImageCms.ImageCmsTransform) -> Image.Image:
    done = ImageCms.applyTransform(image, transform)
    assert done is not None
    return done


@cache
def _srgb() -> ImageCms.ImageCmsProfile:
    return ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB"))


@cache
def _probe() -> Image.Image:
    """Colours from all over the cube, on 32 x 32 pixels."""
    ramp = Image.linear_gradient("L").resize((32, 32))
    across = ramp.transpose(Image.Transpose.ROTATE_90)
    return Image.merge("RGB", (ramp, across, ImageChops.add(ramp, across, scale=2)))
