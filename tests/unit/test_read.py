"""ImageInput to bytes: files of this machine and addresses, called by a name that tells no path."""

import dataclasses
import os
from pathlib import Path

import pytest

from backend.errors import InputError
from backend.intake import read as module
from backend.intake.limits import intake_limits
from backend.intake.preview import webp_thumbnail
from backend.intake.read import display_name, read
from backend.settings import Settings
from backend.types import ImageInput

from .pictures import LIMITS, quarters, saved


def refusal(location: str, name: str = "") -> InputError:
    with pytest.raises(InputError) as caught:
        read(ImageInput(location, "path", name), LIMITS)
    assert str(Path(location).parent) not in caught.value.message
    return caught.value


def test_a_file(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"bytes")
    assert read(ImageInput(str(tmp_path / "cat.png"), "path"), LIMITS) == b"bytes"


def test_an_address_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "fetch", lambda url, limits: url.encode())
    image = ImageInput("http://cats.test/cat.png", "url")
    assert read(image, LIMITS) == b"http://cats.test/cat.png"


def test_a_data_address_is_unpacked() -> None:
    assert read(ImageInput(" data:text/plain,cat%21", "url"), LIMITS) == b"cat!"


def test_a_data_address_is_one_only_where_addresses_are_given() -> None:
    assert refusal("data:text/plain,cat").code == "image_unreadable"


def test_a_missing_file_is_called_by_its_name_alone(tmp_path: Path) -> None:
    error = refusal(str(tmp_path / "secret folder" / "cat.png"))
    assert error.code == "image_unreadable"
    assert "cat.png" in error.message


def test_an_uploads_own_name_is_used(tmp_path: Path) -> None:
    message = refusal(str(tmp_path / "0a1b2c" / "blob"), name="holiday.jpg").message
    assert "holiday.jpg" in message
    assert "blob" not in message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "cats").mkdir()
    assert refusal(str(tmp_path / "cats")).code == "image_unreadable"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.png")
    assert refusal(str(tmp_path / "pipe.png")).code == "image_unreadable"


@pytest.mark.parametrize("name", ["a\0b.png", "x" * 5000 + ".png"])
def test_a_name_no_file_can_have(tmp_path: Path, name: str) -> None:
    assert refusal(str(tmp_path / name)).code == "image_unreadable"


def test_a_large_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    with (tmp_path / "large.png").open("wb") as file:
        file.truncate(10**12)
    error = refusal(str(tmp_path / "large.png"))
    assert error.code == "image_too_large"
    assert "large.png" in error.message


def test_a_file_of_exactly_the_limit(tmp_path: Path) -> None:
    (tmp_path / "cat.png").write_bytes(b"x" * 10)
    limits = dataclasses.replace(LIMITS, max_bytes=10)
    assert len(read(ImageInput(str(tmp_path / "cat.png"), "path"), limits)) == 10


@pytest.mark.parametrize(
    ("image", "name"),
    [
        (ImageInput("/home/ann/cat.png", "path"), "cat.png"),
        (ImageInput("/tmp/gradio/0a1b/blob", "upload", "holiday.jpg"), "holiday.jpg"),
        (ImageInput("http://cats.test/a/cat.png?size=1#x", "url"), "cat.png"),
        (ImageInput("http://cats.test/my%20cat.png", "url"), "my cat.png"),
        (ImageInput("http://cats.test/", "url"), "cats.test"),
        (ImageInput("http://cats.test", "url"), "cats.test"),
        (ImageInput("http://[::1", "url"), "the address"),
        (ImageInput("http://cats.test/a%0Ab%00.png", "url"), "a\ufffdb\ufffd.png"),
        (ImageInput(f"http://cats.test/{'a' * 99}", "url"), "a" * 79 + "\u2026"),
        (ImageInput("data:image/png;base64,iVBORw0KGgo", "url"), "data:image/png;base64,\u2026"),
        (ImageInput("DATA:,cat", "url"), "data:,\u2026"),
    ],
)
def test_what_an_image_is_called(image: ImageInput, name: str) -> None:
    assert display_name(image) == name


@pytest.mark.parametrize(("size", "small"), [((640, 480), (64, 48)), ((30, 20), (30, 20))])
def test_a_preview_is_small_and_keeps_its_aspect(
    size: tuple[int, int], small: tuple[int, int]
) -> None:
    import io

    from PIL import Image

    picture = quarters(*size)
    with Image.open(io.BytesIO(webp_thumbnail(picture, 64))) as preview:
        assert (preview.format, preview.size) == ("WEBP", small)
    assert picture.size == size
    assert saved(picture) == saved(quarters(*size))


@pytest.mark.parametrize(
    ("path", "says"), [("/dev/zero", "no ordinary file"), ("/", "a folder"), ("", "a folder")]
)
def test_what_is_no_image_file_is_told_so(path: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        read(ImageInput(path, "path"), LIMITS)


def test_a_file_that_says_it_is_empty_is_not_read_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As files of `/proc` do: their size is 0 whatever can be read."""
    file = tmp_path / "growing"
    file.write_bytes(bytes(3_000_000))
    status = file.stat()
    empty = os.stat_result((*status[:6], 0, *status[7:10]))
    monkeypatch.setattr(Path, "stat", lambda self, **_: empty)
    with pytest.raises(InputError) as caught:
        read(ImageInput(str(file), "path"), intake_limits(Settings(max_upload_mb=1)))
    assert caught.value.code == "image_too_large"
