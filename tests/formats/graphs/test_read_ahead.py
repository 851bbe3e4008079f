"""Items computed ahead: the same ones, at most `count` of them, and errors in their place."""

import threading

import pytest

from hopvec.formats.graphs.read_ahead import read_ahead


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_items_are_the_same(size, count):
    with read_ahead(range(size), count) as items:
        assert list(items) == list(range(size))


def test_an_error_is_raised_in_the_place_of_its_item():
    def items():
        yield 1
        yield 2
        raise ValueError("the third")

    with read_ahead(items()) as ahead:
        assert [next(ahead), next(ahead)] == [1, 2]
        with pytest.raises(ValueError, match="the third"):
            next(ahead)


def test_at_most_count_items_are_ahead():
    begun, allowed = [], threading.Semaphore(0)

    def items():
        for number in range(10):
            begun.append(number)
            yield number
            allowed.release()

    with read_ahead(items(), 2) as ahead:
        next(ahead)
        next(ahead)
        # The source goes on from item k only when item k + 1 is asked for, which is at most 3.
        assert all(allowed.acquire(timeout=10) for _ in range(3))
    assert max(begun) <= 3


def test_the_thread_has_ended_after_the_block():
    def threads():
        return {thread.ident for thread in threading.enumerate()}

    def left_early():
        with read_ahead(range(100)) as items:
            next(items)
            assert threads() > before
            raise KeyError

    before = threads()
    with pytest.raises(KeyError):
        left_early()
    assert threads() == before
