"""Progress: callbacks of long-running work."""

from collections.abc import Callable, Sequence

Progress = Callable[[int, int], object]
"""Called with the amount of work done and the total, from the thread that started the work."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default if no callback is given."""


def stage(progress: Progress, number: int, sizes: Sequence[int]) -> Progress:
    """Progress within one of several stages, reported as progress of all of them.

    >>> stage(print, 1, (1, 3))(5, 10)
    250 400
    >>> stage(print, 0, (6,))(5, 10)
    5 10
    """
    if len(sizes) == 1:
        return progress
    before, size = 100 * sum(sizes[:number]), 100 * sizes[number]

    def report(done: int, total: int) -> None:
        progress(before + size * done // max(1, total), 100 * sum(sizes))

    return report
