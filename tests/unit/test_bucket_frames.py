"""The original beside what the encoder sees: shapes, grids, and words for those who see neither."""

from dataclasses import replace

import pytest

from backend.placement import Fit
from backend.resolution import FixedResolution, TiledResolution
from ui.bucket_frames import cells

from .panels import chosen, drawn, item, styles


def test_original_and_encoded_are_described() -> None:
    given, seen = drawn([chosen(532, 364)]).of("img")
    assert given["alt"] == "Image 1 as given, 532 by 364 pixels"
    assert seen["alt"] == (
        "Image 1 as the encoder sees it, stretched to 728 by 1288 pixels, 26 by 46 visual tokens"
    )


@pytest.mark.parametrize(
    ("fit", "words", "css"),
    [("stretch", "stretched to", "fill"), ("pad", "inside a border of", "contain")],
)
def test_the_encoded_picture_has_the_fits_shape(fit: Fit, words: str, css: str) -> None:
    _, seen = drawn([chosen(532, 364, fit)]).of("img")
    assert words in str(seen["alt"])
    assert seen["style"] == f"object-fit:{css}"


def test_a_cropping_family_shows_the_middle() -> None:
    placement = FixedResolution(336, 336, 576, crops=True).place(300, 600)
    page = drawn([item(placement, 300, 600)])
    _, seen = page.of("img")
    assert seen["style"] == "object-fit:cover"
    assert "Becomes 336 x 336" in page.text
    assert "50 % of the picture is cut off at its left and right" in page.text
    assert "Snapped to" not in page.text


def test_the_grid_has_the_buckets_tokens() -> None:
    grid = [style for style in styles(chosen(532, 364)) if "--rows" in style]
    assert len(grid) == 1
    assert "--columns:46.000;--rows:26.000" in grid[0]


def test_tiles_are_drawn_and_named() -> None:
    page = drawn([item(TiledResolution().place(448, 896), 448, 896)])
    assert "Tiles 1 x 2 of 448 and a thumbnail" in page.text
    assert "768 of 16,384" in page.text
    (grid,) = [s for s in styles(item(TiledResolution().place(448, 896), 448, 896)) if "rows" in s]
    assert "--columns:32.000;--rows:16.000;--tile-columns:2;--tile-rows:1" in grid


def test_a_single_tile_has_no_lines_between_tiles() -> None:
    given = item(TiledResolution().place(300, 300), 300, 300)
    assert not any("tile" in style for style in styles(given))
    assert "thumbnail" not in drawn([given]).text.split("Tiles")[1].split("Visual")[0]


def test_without_a_thumbnail_the_frames_have_names() -> None:
    page = drawn([replace(chosen(364, 532), thumbnail="")])
    assert not page.of("img")
    named = [tag["aria-label"] for tag in page.of("span") if tag.get("role") == "img"]
    assert len(named) == 2


def test_rows_and_columns_of_tokens() -> None:
    assert cells(GEMMA := FixedResolution(896, 896, 256).place(100, 100)) == (16, 16)
    assert GEMMA.bucket.tokens == 256
    assert cells(TiledResolution().place(1344, 1792)) == (48, 64)
