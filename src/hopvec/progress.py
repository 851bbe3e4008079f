"""Progress: callbacks of long-running work."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

from hopvec.errors import ParameterError

Progress = Callable[[int, int], object]
"""Called with the amount of work done and the total, from the thread that started the work."""


SHOW_IMMEDIATELY = "show_immediately"
"""The attribute of log records that the command line shows immediately: a run waits for input."""

ProgressOption = bool | Progress | None
"""What users pass as `progress=`: True for a bar, False or None for nothing, or a callback."""


def callback(progress: ProgressOption, what: str) -> Progress | None:
    """The callback for what a user passed as `progress=`; `what` is the title of a bar."""
    if progress is None or progress is False:
        return None
    if progress is True:
        return ProgressBar(what)
    if not callable(progress):
        raise ParameterError(f"progress must be True, False or a function, got {progress!r}.")
    return progress


class ProgressBar:
    """A bar in the terminal or the notebook, by tqdm if it is installed, else by rich.

    It appears with the first report and ends with the last one, or when it is deleted.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._bar: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Show the work done and the total, which is 0 if it is unknown."""
        finished = done >= total > 0
        if self._bar is None:
            if finished:
                return  # it would only flash
            self._bar = _open_bar(self._what)
        self._bar.total = total or None
        self._bar.update(done - self._bar.n)
        if finished:
            self._bar.close()
            self._bar = None


def _open_bar(what: str) -> Any:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _RichBar(what)
    return tqdm(desc=what, leave=False, file=sys.stderr, mininterval=0.2)


class _RichBar:
    """A bar of rich with the interface of tqdm."""

    def __init__(self, what: str) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bars

        self.n = 0
        self.total: int | None = None
        self._bars = Bars(console=Console(stderr=True), transient=True)
        self._task = self._bars.add_task(what, total=None)
        self._bars.start()

    def update(self, more: int) -> None:
        self.n += more
        self._bars.update(self._task, completed=self.n, total=self.total)

    def close(self) -> None:
        self._bars.stop()

    def __del__(self) -> None:
        self.close()


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
