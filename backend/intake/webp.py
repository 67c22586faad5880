"""WebP: a still or first frame, without the copies that are made for animations."""

from __future__ import annotations

from PIL import Image
from PIL.WebPImagePlugin import WebPImageFile


def first_frame(opened: WebPImageFile) -> Image.Image:
    """The first frame, loaded; of mode RGBA or RGBX, with the file's `info`.

    libwebp's decoder of animations, the only one that Pillow has, cannot decode at a smaller size
    and holds two canvases; with the frame that it hands over that is 12 bytes a pixel, the bound.
    Pillow's own `load` copies the frame once more, and keeps the canvases as long as the picture.
    Here the frame is used where it lies, and the canvases are freed before anything else is done.
    """
    pixels, _, _ = opened._get_next()
    del opened._decoder
    frame = Image.frombuffer(opened.rawmode, opened.size, pixels, "raw", opened.rawmode, 0, 1)
    frame.info = opened.info
    return frame
