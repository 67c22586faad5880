"""How much memory decoding takes, measured as the greatest size of a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest
from PIL import Image

from backend.settings import repository

from .pictures import saved

SIDE = 3000

PROGRAM = """
import sys
from PIL import Image
from backend.intake.decode import decode
from tests.unit.pictures import LIMITS, saved
from dataclasses import replace

def greatest():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

kind, mode, enough = sys.argv[1], sys.argv[2], (1000, 1000) if sys.argv[3] == "reduced" else None
data = sys.stdin.buffer.read()
limits = replace(LIMITS, max_pixels=50_000_000)
# Whatever is loaded or made once for all pictures of the kind.
decode(saved(Image.new(mode, (600, 600)), kind), "small", limits, (200, 200))
before = greatest()
decode(data, "large", limits, enough)
print(greatest() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("size", ["reduced", "whole"])
@pytest.mark.parametrize(
    ("kind", "mode", "decoded"),
    [
        ("WEBP", "RGBA", 12),
        ("WEBP", "RGB", 12),
        ("PNG", "RGBA", 4),
        ("PNG", "P", 1),
        ("PNG", "LA", 4),
    ],
)
def test_a_picture_takes_what_its_decoder_takes_and_one_rgb_copy(
    kind: str, mode: str, decoded: int, size: str
) -> None:
    """Bytes a pixel. It was 16 and 25 for WebP, 8 and 17 for PNG, 14 for palettes.

    A copy is 4, as Pillow stores RGB. WebP's canvases are freed before it is made. The bands in
    work are at most 2 more of a picture of this size.
    """
    copy = 0 if kind == "WEBP" else 4 if size == "whole" else 4 / 9
    data = saved(Image.new(mode, (SIDE, SIDE)), kind)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, kind, mode, size],
        cwd=repository(), input=data, capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    taken = int(result.stdout) / SIDE**2
    assert decoded * 0.9 < taken < decoded + copy + 2.5
