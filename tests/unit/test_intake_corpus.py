"""Every file of the corpus: the right pixels, or the right refusal, each in reasonable time."""

import time

import pytest

from backend.errors import InputError
from backend.intake.decode import decode
from backend.intake.limits import intake_limits
from backend.intake.scale import enough_pixels
from backend.placement import Bucket
from backend.settings import read_settings

from .corpus import SEEN, Seen
from .corpus_refused import REFUSED, Refused

BUCKETS = [Bucket(364, 532, (364, 532), 247), Bucket(728, 1288, (728, 1280), 1196)]
SLOWEST_S = 5.0


# Pillow warns of odd files before it gives up on them.
pytestmark = pytest.mark.filterwarnings("ignore:::PIL")


def test_the_corpus_is_large() -> None:
    names = [case.name for case in (*SEEN, *REFUSED)]
    assert len(set(names)) == len(names) >= 60


@pytest.mark.parametrize("case", SEEN, ids=lambda case: case.name)
def test_what_is_seen(case: Seen) -> None:
    data = case.make()
    started = time.perf_counter()
    loaded = decode(data, "cat.png", intake_limits(read_settings({})), enough_pixels(BUCKETS))
    assert time.perf_counter() - started < SLOWEST_S
    assert (loaded.width, loaded.height) == case.size
    assert loaded.pixels.mode == "RGB"
    for (x, y), due in case.pixels.items():
        at = (x % loaded.pixels.width, y % loaded.pixels.height)
        seen = loaded.pixels.getpixel(at)
        assert isinstance(seen, tuple)
        off = max(abs(a - b) for a, b in zip(seen, due, strict=True))
        assert off <= case.tolerance, f"{at}: {seen}, not {due}"
    assert len(loaded.notes) == bool(case.note)
    assert all(case.note in note for note in loaded.notes)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case.name)
def test_what_is_refused(case: Refused) -> None:
    data = case.make()
    started = time.perf_counter()
    with pytest.raises(InputError) as caught:
        decode(data, "cat.png", intake_limits(read_settings({})), enough_pixels(BUCKETS))
    assert time.perf_counter() - started < SLOWEST_S
    error = caught.value
    assert error.code == case.code
    assert error.message.startswith("cat.png ")
    assert case.words in error.message
    for leak in ("0x", "BytesIO", "PIL", "Pillow", "/", "Traceback", "<", "libheif"):
        assert leak not in error.message
