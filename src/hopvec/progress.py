"""Progress: callbacks of long-running work."""

from collections.abc import Callable

Progress = Callable[[int, int], object]
"""Called with the amount of work done and the total, from the thread that started the work."""


def no_progress(done: int, total: int) -> None:
    """Ignore progress; the default if no callback is given."""


def stage(progress: Progress, number: int, stages: int) -> Progress:
    """Progress within one of several equal stages, reported as progress of all of them.

    >>> stage(print, 1, 2)(5, 10)
    150 200
    >>> stage(print, 0, 1)(5, 10)
    5 10
    """
    if stages == 1:
        return progress

    def report(done: int, total: int) -> None:
        progress(100 * number + 100 * done // max(1, total), 100 * stages)

    return report
