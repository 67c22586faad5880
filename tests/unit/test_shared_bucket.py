"""One bucket for all images of a request: the rule by hand, and through the service on QAIC.

The demo model's buckets are 364x532, 504x896 and 728x1288 (247, 576 and 1196 tokens).
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from backend.buckets import DynamicResolution, choose, compile_buckets
from backend.placement import Bucket, Candidate, Fit
from backend.shared_bucket import RULE, least_bad, share_bucket
from backend.types import ChatRequest, ImageInput, ImagesEvent, Turn

from .fakes import App, ask, picture_file
from .pictures import BLUE, RED

QWEN2_5 = DynamicResolution(patch=14)
SMALL, MIDDLE, LARGE = compile_buckets((364, 512, 728), (532, 910, 1280), QWEN2_5)
ABC = [Bucket(28, 28 * tokens, (28, 28 * tokens), tokens) for tokens in (1, 2, 3)]


def weighed(*pixels: tuple[int, int]) -> list[Candidate]:
    return [Candidate(b, *counts, False) for b, counts in zip(ABC, pixels, strict=True)]


def own(*sizes: tuple[int, int], fit: Fit = "stretch") -> list[Any]:
    return [choose(*size, (SMALL, MIDDLE, LARGE), QWEN2_5, fit) for size in sizes]


def test_the_worst_loss_decides_and_not_the_sum() -> None:
    """Worst losses 50, 20 and 40 %; sums 50, 30 and 40 %. The second is nobody's own best."""
    one = weighed((100, 0), (80, 20), (60, 40))
    other = weighed((50, 0), (90, 10), (100, 0))
    assert least_bad([one, other]) == ABC[1]


def test_a_smaller_sum_of_losses_does_not_win() -> None:
    """Losses 30 and 30 %, 0 and 40 %, 90 and 0 %."""
    one = weighed((70, 0), (100, 0), (10, 0))
    other = weighed((70, 0), (60, 0), (100, 0))
    assert least_bad([one, other]) == ABC[0]


def test_equals_go_by_the_waste_of_all() -> None:
    """The second wastes 30 and 5, the first 20 and 20."""
    one = weighed((100, 20), (100, 30), (10, 0))
    other = weighed((50, 20), (50, 5), (50, 0))
    assert least_bad([one, other]) == ABC[1]


def test_equals_in_all_go_to_the_first() -> None:
    assert least_bad([weighed((9, 1), (9, 1), (9, 1))] * 2) == ABC[0]


def test_thirds_are_compared_exactly() -> None:
    """1/3 of one image and 2/6 of another are the same loss; rounded, they might not be."""
    one = weighed((2, 9), (3, 1), (3, 1))
    other = weighed((6, 9), (4, 1), (4, 2))
    assert least_bad([one, other]) == ABC[1]


def test_an_image_without_a_pixel_anywhere_loses_nothing() -> None:
    assert least_bad([weighed((0, 5), (0, 4), (0, 6)), weighed((1, 0), (1, 0), (1, 0))]) == ABC[1]


def test_one_image_keeps_its_own() -> None:
    placements = own((364, 532))
    assert share_bucket([(364, 532)], placements) == placements
    assert share_bucket([], []) == []


def test_a_portrait_takes_a_landscape_along() -> None:
    """364 x 532 keeps all its pixels in 728 x 1288; the portrait would lose half in 364 x 532."""
    sizes = [(364, 532), (532, 364)]
    first, second = share_bucket(sizes, own(*sizes))
    assert first.bucket == second.bucket == LARGE
    assert [c.bucket for c in first.candidates if c.chosen] == [LARGE]
    assert first.aspect_change == pytest.approx((1288 / 728) / (532 / 364))
    assert [loss.kind for loss in first.losses] == ["shape"]


def test_why_says_that_the_bucket_is_shared_and_what_it_costs_each() -> None:
    sizes = [(364, 532), (532, 364)]
    first, second = share_bucket(sizes, own(*sizes))
    assert RULE == "All images of a request share one bucket on QAIC"
    for part in (
        RULE,
        "728x1288",
        "Alone this image would be given 364x532",
        "100 % of the pixels",
    ):
        assert part in first.why
    assert f"{RULE}; it is this image's own" in second.why
    assert "193,648" in second.why


def test_images_of_one_bucket_stay_in_it() -> None:
    sizes = [(364, 532), (350, 520)]
    assert {p.bucket for p in share_bucket(sizes, own(*sizes))} == {SMALL}


def test_sharing_keeps_the_fit() -> None:
    sizes = [(364, 532), (532, 364)]
    shared = share_bucket(sizes, own(*sizes, fit="pad"))
    assert [(p.fit, p.aspect_change) for p in shared] == [("pad", 1.0)] * 2


# Through the service


@pytest.fixture
def landscape(tmp_path: Path) -> ImageInput:
    """Its own bucket is 364x532."""
    return picture_file(tmp_path, "landscape.png", RED, (532, 364))


@pytest.fixture
def portrait(tmp_path: Path) -> ImageInput:
    """Its own bucket is 728x1288."""
    return picture_file(tmp_path, "portrait.png", BLUE, (364, 532))


@pytest.fixture
async def qaic(tokenizer: Any) -> AsyncIterator[App]:
    app = await App(tokenizer, target="qaic").started()
    yield app
    await app.backend.shutdown()


def follow_up(*turns: tuple[str, tuple[ImageInput, ...]]) -> ChatRequest:
    """Questions with images, each but the last answered."""
    said: list[Turn] = []
    for text, images in turns:
        said += [Turn("user", text, images), Turn("assistant", "It is red.")]
    return ChatRequest(tuple(said[:-1]))


def sizes_encoded(app: App) -> list[tuple[int, int]]:
    return [image.pixels.size for image in app.encoder.encoded]


async def test_all_images_of_a_request_reach_the_encoder_at_one_size(
    qaic: App, landscape: ImageInput, portrait: ImageInput
) -> None:
    result = await qaic.answer(ask("Compare", landscape, portrait))
    assert sizes_encoded(qaic) == [(1288, 728)] * 2
    assert [image.placement.bucket for image in result.images] == [LARGE] * 2
    assert all(RULE in image.placement.why for image in result.images)
    assert result.usage.image_tokens == 2 * 1196
    assert {embedding.bucket for embedding in qaic.decoder.images[0]} == {LARGE}


async def test_the_page_is_told_so_before_anything_is_encoded(
    qaic: App, landscape: ImageInput, portrait: ImageInput
) -> None:
    events = await qaic.events(ask("Compare", landscape, portrait))
    (told,) = [event for event in events if isinstance(event, ImagesEvent)]
    assert [image.placement.bucket for image in told.images] == [LARGE] * 2


async def test_one_image_keeps_its_own_bucket_on_qaic(qaic: App, landscape: ImageInput) -> None:
    result = await qaic.answer(ask("What is it?", landscape))
    assert sizes_encoded(qaic) == [(532, 364)]
    assert RULE not in result.images[0].placement.why


@pytest.mark.parametrize(
    "flags",
    [{"target": "cpu"}, {"target": "cuda"}, {"target": "cuda", "topology": "fused"}],
    ids=str,
)
async def test_each_image_has_its_own_bucket_elsewhere(
    tokenizer: Any, landscape: ImageInput, portrait: ImageInput, flags: dict[str, str]
) -> None:
    """A fused engine is given pixels, and takes each image by itself."""
    app = await App(tokenizer, **flags).started()
    result = await app.answer(ask("Compare", landscape, portrait))
    assert not app.backend.plan.one_bucket
    assert [image.placement.bucket for image in result.images] == [SMALL, LARGE]
    await app.backend.shutdown()


async def test_a_follow_up_takes_the_earlier_images_along(
    qaic: App, landscape: ImageInput, portrait: ImageInput
) -> None:
    await qaic.answer(follow_up(("What is it?", (landscape,))))
    both = (("What is it?", (landscape,)), ("And this?", (portrait,)))
    result = await qaic.answer(follow_up(*both))
    assert sizes_encoded(qaic) == [(532, 364), (1288, 728), (1288, 728)]
    assert [image.placement.bucket for image in result.images] == [LARGE] * 2
    again = await qaic.answer(follow_up(*both, ("Which is larger?", ())))
    assert len(qaic.encoder.encoded) == 3, "both are remembered at the shared size"
    assert all(image.cached for image in again.images)
    assert {embedding.bucket for embedding in qaic.decoder.images[-1]} == {LARGE}


async def test_an_image_left_out_of_the_context_has_no_say(
    tokenizer: Any, landscape: ImageInput, portrait: ImageInput
) -> None:
    """Two images of 1,196 tokens do not fit 2,000; the last one alone needs 247."""
    app = await App(tokenizer, target="qaic", ctx_len=2000).started()
    result = await app.answer(follow_up(("What is it?", (portrait,)), ("And this?", (landscape,))))
    assert sizes_encoded(app) == [(532, 364)]
    (image,) = result.images
    assert image.placement.bucket == SMALL
    assert RULE not in image.placement.why
    assert result.usage.image_tokens == 247
    await app.backend.shutdown()


async def test_a_preview_of_several_images_is_what_the_request_does(
    qaic: App, landscape: ImageInput, portrait: ImageInput
) -> None:
    alone = [await qaic.backend.place(image) for image in (landscape, portrait)]
    assert [image.placement.bucket for image in alone] == [SMALL, LARGE]
    together = qaic.backend.together(alone)
    asked = await qaic.answer(ask("Compare", landscape, portrait))
    assert [i.placement for i in together] == [i.placement for i in asked.images]
    assert not any(image.cached for image in together)
    assert all(image.cached for image in qaic.backend.together(alone))


async def test_a_preview_elsewhere_is_each_by_itself(
    tokenizer: Any, landscape: ImageInput, portrait: ImageInput
) -> None:
    backend = App(tokenizer).backend
    alone = [await backend.place(image) for image in (landscape, portrait)]
    assert backend.together(alone) == alone
