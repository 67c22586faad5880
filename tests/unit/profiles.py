"""Small ICC profiles, written by hand so that what they do to a colour is known."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Sequence

D50 = (0.9642, 1.0, 0.8249)
DISPLAY_P3 = ((0.51512, 0.2412, -0.00105), (0.29198, 0.69225, 0.04189), (0.1571, 0.06657, 0.78407))
ADOBE_RGB = ((0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457))
SRGB = ((0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.7141))
"""Red, green and blue as XYZ under D50, as the profiles in circulation have them."""

SRGB_CURVE = (2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
"""g, a, b, c, d of the ICC's parametric curve of type 3."""

WHITE_LAB, RED_LAB, GREY_LAB, BLACK_LAB = (100, 0, 0), (54.29, 80.8, 69.89), (50, 0, 0), (0, 0, 0)


def matrix_profile(primaries: Sequence[Sequence[float]], gamma: float | None = None) -> bytes:
    """A display's RGB profile with these primaries, and sRGB's curve unless a gamma is given."""
    if gamma is None:
        curve = b"para" + bytes(4) + struct.pack(">HH", 3, 0) + fixed(SRGB_CURVE)
    else:
        curve = b"curv" + bytes(4) + struct.pack(">IHH", 1, round(gamma * 256), 0)
    tags = {b"wtpt": xyz(D50)}
    for letter, primary in zip("rgb", primaries, strict=True):
        tags[f"{letter}XYZ".encode()] = xyz(primary)
        tags[f"{letter}TRC".encode()] = curve
    return profile(b"mntr", b"RGB ", b"XYZ ", tags)


def grey_profile(gamma: float) -> bytes:
    """A greyscale profile: linear for 1.0, which shows mid grey far lighter than sRGB does."""
    curve = b"curv" + bytes(4) + struct.pack(">IHH", 1, round(gamma * 256), 0)
    return profile(b"mntr", b"GRAY", b"XYZ ", {b"wtpt": xyz(D50), b"kTRC": curve})


def odd_ink_profile() -> bytes:
    """A press whose cyan ink prints red, so that nobody can get it right without the profile."""
    table = b""
    for cyan, magenta, yellow, black in itertools.product((0, 1), repeat=4):
        if black:
            colour = BLACK_LAB
        elif (cyan, magenta, yellow) == (0, 0, 0):
            colour = WHITE_LAB
        else:
            colour = RED_LAB if (cyan, magenta, yellow) == (1, 0, 0) else GREY_LAB
        lightness, a, b = colour
        encoded = (lightness * 0xFF00 / 100, (a + 128) * 256, (b + 128) * 256)
        table += struct.pack(">HHH", *map(round, encoded))
    straight = struct.pack(">HH", 0, 65535)
    lut = (
        b"mft2" + bytes(4) + struct.pack(">BBBB", 4, 3, 2, 0) + fixed((1, 0, 0, 0, 1, 0, 0, 0, 1))
        + struct.pack(">HH", 2, 2) + straight * 4 + table + straight * 3
    )  # fmt: skip
    return profile(b"prtr", b"CMYK", b"Lab ", {b"wtpt": xyz(D50), b"A2B0": lut})


def profile(kind: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes]) -> bytes:
    """Header, table and tags; the layout is ICC.1's."""
    offset = 128 + 4 + 12 * len(tags)
    table, body = struct.pack(">I", len(tags)), b""
    for name, data in tags.items():
        data += bytes(-len(data) % 4)
        table += name + struct.pack(">II", offset + len(body), len(data))
        body += data
    header = (
        struct.pack(">I", offset + len(body)) + bytes(4) + struct.pack(">I", 0x02400000)
        + kind + space + connection + struct.pack(">6H", 2026, 1, 1, 0, 0, 0) + b"acsp"
    ) + bytes(28) + fixed(D50)  # fmt: skip
    return header.ljust(128, b"\0") + table + body


def xyz(values: Sequence[float]) -> bytes:
    return b"XYZ " + bytes(4) + fixed(values)


def fixed(values: Sequence[float]) -> bytes:
    """s15Fixed16 numbers."""
    return struct.pack(f">{len(values)}i", *(round(value * 65536) for value in values))
