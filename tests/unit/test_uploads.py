"""Fields for uploaded pictures: Gradio neither fetches nor opens what is given to them."""

from pathlib import Path
from typing import Any

import gradio as gr
import pytest
from gradio.data_classes import ImageData

from ui.uploads import uploads, webcam


@pytest.mark.parametrize("field", [uploads, webcam])
@pytest.mark.parametrize("address", ["http://127.0.0.1/a.png", "https://example.org/a.png"])
async def test_an_address_is_refused(field: Any, address: str) -> None:
    with pytest.raises(gr.Error, match=r"bad_request: .*image_urls"):
        await field().async_move_resource_to_block_cache(address)


def test_a_photo_reaches_the_intake_as_it_was_uploaded(tmp_path: Path) -> None:
    """Gradio would decode it, whatever its size; this one cannot even be decoded."""
    photo = tmp_path / "photo.png"
    photo.write_bytes(b"no picture")
    field = webcam()
    assert field.preprocess(ImageData(path=str(photo))) == str(photo)
    assert field.preprocess(None) is None
