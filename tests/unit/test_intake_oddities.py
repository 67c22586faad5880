"""Single oddities of files that the corpus has no place for."""

import struct

import pytest
from PIL import Image

from backend.errors import InputError
from backend.intake.address import Address
from backend.intake.decode import decode
from backend.intake.fetch import _refuse_other_reading
from backend.intake.formats import readable_formats
from backend.intake.kinds import what_it_is

from .pictures import LIMITS, RED, png_with, quarters, saved

# Pillow warns of odd files before it gives up on them.
pytestmark = pytest.mark.filterwarnings("ignore:::PIL")


def tiff_of_12_bits() -> bytes:
    """0, 1024, 2048 and 4095, packed two into three bytes."""
    tags = [(256, 4), (257, 1), (258, 12), (259, 1), (262, 1), (273, 122), (277, 1), (278, 1),
            (279, 6)]  # fmt: skip
    entries = b"".join(struct.pack("<HHII", tag, 3, 1, value) for tag, value in tags)
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4)
    return head.ljust(122, b"\0") + bytes([0x00, 0x04, 0x00, 0x80, 0x0F, 0xFF])


def test_12_bits_are_scaled_by_4095() -> None:
    pixels = decode(tiff_of_12_bits(), "a.tif", LIMITS).pixels
    assert [pixels.getpixel((x, 0)) for x in range(4)] == [(v,) * 3 for v in (0, 64, 128, 255)]


@pytest.mark.parametrize("exif", [b"no exif at all", b"MM\0*\0\0\0\x08\xff\xff", b"II*\0" * 30])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_broken_exif_costs_nobody_the_picture(kind: str, exif: bytes) -> None:
    loaded = decode(saved(quarters(), kind, exif=b"Exif\0\0" + exif), "a", LIMITS)
    assert (loaded.width, loaded.height) == (64, 48)


@pytest.mark.parametrize("orientation", [0, 9, 65535])
def test_an_orientation_that_does_not_exist_means_as_stored(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    assert decode(saved(quarters(), exif=exif), "a", LIMITS).width == 64


def test_a_transparent_colour_of_a_16_bit_png() -> None:
    """Written with 16 bits a channel, while Pillow brings the pixels to 8."""
    image = Image.new("RGB", (4, 4), RED)
    plain = saved(image)
    start = plain.index(b"IHDR") - 4
    trns = png_with((b"tRNS", struct.pack(">HHH", 0xFFFF, 0, 0)))
    chunk = trns[trns.index(b"tRNS") - 4 : trns.index(b"tRNS") + 14]
    data = plain[: start + 25] + chunk + plain[start + 25 :]
    assert decode(data, "a", LIMITS).pixels.getpixel((0, 0)) == (255, 255, 255)


def test_only_the_formats_named_are_opened() -> None:
    """Pillow knows some that run programs or read other files."""
    assert "HEIF" in readable_formats()
    assert not {"EPS", "WMF", "PSD", "FITS", "GBR", "PDF"} & set(readable_formats())


def test_a_picture_is_called_nothing_else() -> None:
    for kind in readable_formats():
        if kind not in ("MPO", "ICO"):
            assert what_it_is(saved(quarters(), kind)) is None


def test_a_second_reading_of_an_address_is_refused() -> None:
    """What requests makes of an address must be what was checked."""
    address = Address("http://cats.test/", "http", "cats.test", 80, "cats.test")
    _refuse_other_reading(address, "http://cats.test/")
    for other in ("http://dogs.test/", "https://cats.test/", "http://cats.test:81/",
                  "http://ann@cats.test/"):  # fmt: skip
        with pytest.raises(InputError):
            _refuse_other_reading(address, other)
