"""Computes the next items of an iterator on a thread while the current one is in use."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def read_ahead(items: Iterable[T], count: int = 2) -> Iterator[Iterator[T]]:
    """Yield an iterator over the same items, of which up to `count` are computed ahead.

    An exception is raised where its item would have been. The thread has ended when the block ends.
    """
    from concurrent.futures import ThreadPoolExecutor

    source, end = iter(items), object()
    executor = ThreadPoolExecutor(1)
    pending = deque(executor.submit(next, source, end) for _ in range(count))

    def computed() -> Iterator[T]:
        while (item := pending.popleft().result()) is not end:
            pending.append(executor.submit(next, source, end))
            yield item  # type: ignore[misc]

    try:
        yield computed()
    finally:
        executor.shutdown(cancel_futures=True)
