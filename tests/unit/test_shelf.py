"""The shelf: conversations by id, the oldest let go when there are too many characters."""

from ui.shelf import Shelf

from .talks import attachment, exchange


def test_what_was_put_there_is_found() -> None:
    shelf, talk = Shelf(), [exchange("one", "1")]
    shelf.put("a", talk)
    talk.append(exchange("two", "2"))
    assert shelf.get("a") == ((exchange("one", "1"),), ())
    assert shelf.get("b") is None


def test_an_empty_conversation_is_forgotten() -> None:
    shelf = Shelf()
    shelf.put("a", [exchange("one", "1")])
    shelf.put("a", [])
    assert shelf.get("a") is None


def test_images_that_wait_are_held_too() -> None:
    shelf = Shelf()
    shelf.put("a", [], [attachment()])
    assert shelf.get("a") == ((), (attachment(),))


def test_the_least_recently_used_goes_first() -> None:
    shelf = Shelf(most=25)
    for name in "ab":
        shelf.put(name, [exchange("x" * 10)])
    shelf.get("a")
    shelf.put("c", [exchange("x" * 10)])
    assert [shelf.get(name) is None for name in "abc"] == [False, True, False]


def test_one_that_is_too_large_is_not_held() -> None:
    shelf = Shelf(most=5)
    shelf.put("a", [exchange("x" * 10)])
    assert shelf.get("a") is None
