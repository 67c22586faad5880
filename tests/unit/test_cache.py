"""The embedding cache: bounded in bytes, least recently used first out."""

from backend.cache import ByteCache
from backend.types import Embedding

from .fakes import embedding


def test_what_was_put_is_got() -> None:
    cache, rows = ByteCache[Embedding](100), embedding(40)
    cache.put("a", rows)
    assert cache.get("a") is rows
    assert "a" in cache
    assert (len(cache), cache.nbytes) == (1, 40)


def test_what_was_never_put_is_none() -> None:
    cache = ByteCache[Embedding](100)
    assert cache.get("a") is None
    assert "a" not in cache


def test_the_oldest_goes_first() -> None:
    cache = ByteCache[Embedding](100)
    for name in "abc":
        cache.put(name, embedding(40))
    assert [name in cache for name in "abc"] == [False, True, True]
    assert cache.nbytes == 80


def test_getting_makes_it_the_most_recent() -> None:
    cache = ByteCache[Embedding](100)
    cache.put("a", embedding(40))
    cache.put("b", embedding(40))
    cache.get("a")
    cache.put("c", embedding(40))
    assert [name in cache for name in "abc"] == [True, False, True]


def test_asking_whether_it_is_there_does_not_make_it_recent() -> None:
    cache = ByteCache[Embedding](100)
    cache.put("a", embedding(40))
    cache.put("b", embedding(40))
    assert "a" in cache
    cache.put("c", embedding(40))
    assert "a" not in cache


def test_a_large_one_pushes_out_as_many_as_it_must() -> None:
    cache = ByteCache[Embedding](100)
    for name in "abc":
        cache.put(name, embedding(30))
    cache.put("d", embedding(70))
    assert [name in cache for name in "abcd"] == [False, False, True, True]
    assert cache.nbytes == 100


def test_putting_again_replaces_and_does_not_count_twice() -> None:
    cache = ByteCache[Embedding](100)
    cache.put("a", embedding(40))
    cache.put("a", embedding(60))
    assert (len(cache), cache.nbytes) == (1, 60)


def test_one_over_the_bound_is_not_held_and_pushes_nothing_out() -> None:
    cache = ByteCache[Embedding](100)
    cache.put("a", embedding(40))
    cache.put("b", embedding(102))
    assert "a" in cache
    assert "b" not in cache


def test_a_bound_of_nothing_holds_nothing() -> None:
    cache = ByteCache[Embedding](0)
    cache.put("a", embedding(2))
    assert (len(cache), cache.nbytes) == (0, 0)
