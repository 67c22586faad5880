"""Profile: a picture's own colour space, turned into sRGB."""

from __future__ import annotations

import io
from functools import cache

from PIL import Image, ImageChops, ImageCms

SPACES = {"L": "GRAY", "RGB": "RGB", "CMYK": "CMYK"}
"""Modes that profiles are applied to, and the colour space a profile must be for."""

NEGLIGIBLE = 1
"""Levels of 255. A profile that changes no colour by more is sRGB under one of its many names."""


def to_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """A picture of mode L, RGB or CMYK as sRGB, through its ICC profile where that is of use.

    A profile that is broken, or that is not for such a picture, is ignored.
    """
    if profile:
        try:
            return _through(image, profile)
        except (ImageCms.PyCMSError, OSError, TypeError, ValueError):
            pass  # As viewers do: the picture is worth more than its profile.
    return image.convert("RGB")


def lab_to_srgb(image: Image.Image) -> Image.Image:
    """A picture of mode LAB as sRGB."""
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB"))
    transform = ImageCms.buildTransform(lab, _srgb(), "LAB", "RGB")
    return _applied(image, transform)


def _through(image: Image.Image, profile: bytes) -> Image.Image:
    source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
    space = source.profile.xcolor_space.strip()
    if image.mode == "L" and space == "RGB":
        image = image.convert("RGB")
    if space != SPACES[image.mode]:
        return image.convert("RGB")
    transform = ImageCms.buildTransform(source, _srgb(), image.mode, "RGB")
    if image.mode != "CMYK" and _changes_little(transform, image.mode):
        return image.convert("RGB")
    return _applied(image, transform)


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
