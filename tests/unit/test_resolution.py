"""Families without buckets: one size, tiles, or a way that only their processor knows."""

from dataclasses import replace

import pytest
from PIL import Image
from transformers.models.got_ocr2.image_processing_got_ocr2 import GotOcr2ImageProcessor

from backend import plan as plan_module
from backend.buckets import DynamicResolution
from backend.catalog import get_model
from backend.intake.prepare import place_picture, prepare_picture
from backend.placement import Bucket, Fit, PlacedImage, Placement, Tiles
from backend.plan import make_plan
from backend.resolution import (
    FixedResolution,
    OwnResolution,
    Resolution,
    ScaledResolution,
    TiledResolution,
)
from backend.settings import read_settings
from backend.types import LoadedImage

LLAVA = FixedResolution(336, 336, 576, crops=True)
GEMMA3 = FixedResolution(896, 896, 256)
INTERNVL = TiledResolution(tile=448, tokens=256, max_tiles=12, thumbnail=True)


def test_a_fixed_size_is_the_same_for_every_image() -> None:
    for height, width in ((10, 10), (1080, 1920), (4000, 300)):
        placement = GEMMA3.place(height, width)
        assert placement.bucket == Bucket(896, 896, None, 256)
        assert (placement.candidates, placement.tiles) == ((), None)
        assert "896x896" in placement.why
    assert GEMMA3.sizes() == (Bucket(896, 896, None, 256),)


def test_a_fixed_size_stretches_whatever_the_fit() -> None:
    placement = GEMMA3.place(1000, 2000, (), "pad")
    assert (placement.fit, placement.aspect_change) == ("stretch", 0.5)
    assert [loss.kind for loss in placement.losses] == ["shape", "detail"]


def test_a_fixed_size_that_crops_keeps_the_shape() -> None:
    placement = LLAVA.place(336, 672)
    assert placement.bucket.tokens == 576
    assert (placement.fit, placement.aspect_change) == ("crop", 1.0)
    assert [loss.kind for loss in placement.losses] == ["edges"]


@pytest.mark.parametrize(
    ("height", "width", "rows", "columns", "tokens"),
    [
        (448, 448, 1, 1, 256),  # one tile has no thumbnail
        (100, 100, 1, 1, 256),  # two by two would be more than twice its pixels
        (896, 896, 2, 2, 5 * 256),
        (448, 896, 1, 2, 3 * 256),
        (896, 448, 2, 1, 3 * 256),
        (532, 364, 3, 2, 7 * 256),  # 0.684 is nearest to 2 / 3
        (1080, 1920, 2, 4, 9 * 256),  # 1.778 is nearer to 4 / 2 than to 3 / 2
        (1344, 1792, 3, 4, 13 * 256),
        (448, 5376, 1, 12, 13 * 256),
        (448, 9000, 1, 12, 13 * 256),
    ],
)
def test_tiles_by_hand(height: int, width: int, rows: int, columns: int, tokens: int) -> None:
    placement = INTERNVL.place(height, width)
    assert placement.tiles == Tiles(rows, columns, 448, 256, rows * columns > 1)
    assert placement.bucket == Bucket(rows * 448, columns * 448, None, tokens)
    assert f"{rows} x {columns} tiles" in placement.why
    assert ("thumbnail" in placement.why) == (rows * columns > 1)


@pytest.mark.parametrize(
    "size", [(448, 448), (532, 364), (1080, 1920), (300, 2000), (700, 650)], ids=str
)
def test_as_many_tiles_as_the_familys_own_processor_makes(size: tuple[int, int]) -> None:
    processor = GotOcr2ImageProcessor(
        crop_to_patches=True, max_patches=12, size={"height": 448, "width": 448}
    )
    image = Image.new("RGB", size[::-1])
    made = processor(image, return_tensors="pt")["pixel_values"].shape[0]
    assert INTERNVL.place(*size).bucket.tokens == made * 256


def test_the_stretch_of_tiles_is_told() -> None:
    """532 x 364 over 3 x 2 tiles: (896 / 1344) / (364 / 532) = 0.974."""
    assert INTERNVL.place(532, 364).aspect_change == pytest.approx(0.9744, abs=1e-4)
    assert INTERNVL.place(448, 9000).aspect_change == pytest.approx(0.5973, abs=1e-4)


def test_fewer_tiles_and_no_thumbnail() -> None:
    few = TiledResolution(tile=448, tokens=256, max_tiles=4, thumbnail=False)
    assert few.place(1344, 1792).tiles == Tiles(2, 2, 448, 256, False)
    assert few.place(896, 896).bucket == Bucket(896, 896, None, 4 * 256)


def test_the_sizes_of_tiles_are_all_grids() -> None:
    """35 grids hold 1 to 12 tiles: the divisors of each count."""
    sizes = INTERNVL.sizes()
    assert len({(size.height, size.width) for size in sizes}) == len(sizes) == 35
    assert {size.tokens for size in sizes} == {256, *(256 * (n + 1) for n in range(2, 13))}


def test_a_way_of_its_own_leaves_the_tokens_unknown() -> None:
    placement = OwnResolution().place(480, 640)
    assert placement.bucket == Bucket(480, 640, None, 0)
    assert (placement.aspect_change, placement.losses) == (1.0, ())
    assert OwnResolution().sizes() == ()


def test_dynamic_resolution_without_buckets_keeps_the_size() -> None:
    dynamic = DynamicResolution(patch=14)
    assert dynamic.sizes((), ()) == ()
    assert dynamic.place(100, 200, (), "pad").bucket == Bucket(112, 196, None, 28)


@pytest.mark.parametrize(
    ("resolution", "has"),
    [
        (ScaledResolution(1024, 16), False),
        (DynamicResolution(), True),
        (LLAVA, False),
        (INTERNVL, False),
        (OwnResolution(), False),
    ],
    ids=lambda it: type(it).__name__,
)
def test_who_has_buckets(resolution: Resolution, has: bool) -> None:
    assert resolution.has_buckets is has


def loaded(size: tuple[int, int]) -> LoadedImage:
    return LoadedImage(Image.new("RGB", size), "sha", *size, "cat.png")


@pytest.mark.parametrize(
    "resolution", [LLAVA, GEMMA3, INTERNVL, None], ids=lambda it: type(it).__name__
)
@pytest.mark.parametrize("fit", ["stretch", "pad"])
def test_the_engine_gets_the_picture_as_it_is(
    resolution: Resolution | None, fit: Fit, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The family's own processor resizes; resized twice, a picture is blurred."""
    row = replace(get_model("qwen2_5_vl"), resolution=resolution, heights=(), widths=())
    monkeypatch.setattr(plan_module, "get_model", lambda name: row)
    made = make_plan(read_settings({"target": "cuda"}))
    picture = place_picture(loaded((777, 333)), made, fit)
    assert prepare_picture(picture).pixels.size == (777, 333)


def test_tiles_are_in_the_json() -> None:
    def entry(placement: Placement) -> dict[str, object]:
        bucket: dict[str, object] = PlacedImage("a", 1, 1, "sha", placement).as_json()["bucket"]
        return bucket

    assert entry(INTERNVL.place(448, 896))["tiles"] == {
        "rows": 1, "columns": 2, "side": 448, "tokens": 256, "thumbnail": True,
    }  # fmt: skip
    assert "tiles" not in entry(GEMMA3.place(448, 896))
    assert entry(LLAVA.place(448, 896))["fit"] == "crop"
