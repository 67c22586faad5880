"""The pictures about to be sent: their numbers, their order, and buttons for both directions."""

import pytest

from tests.unit.panels import Text, chosen
from ui.tray import moved, tray


def names(count: int) -> list[str]:
    return [f"{letter}.png" for letter in "abcd"[:count]]


def shown(count: int, first: int = 1) -> Text:
    return Text(tray([chosen(364, 532, name=name) for name in names(count)], first))


def test_nothing_is_drawn_for_nothing() -> None:
    assert tray([], 1) == ""


def test_numbers_go_on_from_what_was_sent() -> None:
    text = shown(3, first=4).text
    assert [f"Image {number}" in text for number in range(3, 8)] == [False, True, True, True, False]


def test_each_has_its_bucket_by_the_name_that_the_settings_have() -> None:
    assert "→ 512 x 910" in Text(tray([chosen(500, 900)], 1)).text


def test_one_picture_cannot_be_moved() -> None:
    assert [button["aria-label"] for button in shown(1).of("button")] == ["Remove image 1 (a.png)"]


def test_every_button_says_what_it_does_to_which_picture() -> None:
    labels = [button["aria-label"] for button in shown(2).of("button")]
    assert labels == [
        "Move image 1 (a.png) earlier", "Move image 1 (a.png) later", "Remove image 1 (a.png)",
        "Move image 2 (b.png) earlier", "Move image 2 (b.png) later", "Remove image 2 (b.png)",
    ]  # fmt: skip


def test_the_ends_of_the_list_are_ends() -> None:
    buttons = [button for button in shown(3).of("button") if "data-way" in button]
    assert ["disabled" in button for button in buttons] == [True, False, False, False, False, True]
    for button in buttons:
        step = {"earlier": -1, "later": 1}[str(button["data-way"])]
        assert int(str(button["data-to"])) == int(str(button["data-from"])) + step


def test_a_name_is_text() -> None:
    html = tray([chosen(364, 532, name='"><script>x</script>.png')] * 2, 1)
    assert "<script" not in html
    Text(html)


@pytest.mark.parametrize(
    ("start", "end", "order"),
    [(0, 1, "bac"), (2, 1, "acb"), (0, 2, "bca"), (2, 0, "cab"), (1, 1, "abc")],
)
def test_a_picture_moves_to_its_place(start: int, end: int, order: str) -> None:
    items = [chosen(364, 532, name=name) for name in names(3)]
    found = moved(items, start, end)
    assert "".join(item.placed.source[0] for item in found) == order


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (0, -1), (3, 0), (0, 3), (99, 99)])
def test_places_that_are_not_there_change_nothing(start: int, end: int) -> None:
    items = [chosen(364, 532, name=name) for name in names(3)]
    assert moved(items, start, end) == items
