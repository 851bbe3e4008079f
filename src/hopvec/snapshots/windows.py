"""The windows of time of snapshots."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from hopvec.errors import ParameterError
from hopvec.graph.times import DAY, DURATION_UNITS, EPOCH, format_duration

MAX_WINDOWS = 100_000


class Window(NamedTuple):
    """The times from `start` to `end`, without `end`, in microseconds since 1970."""

    start: int
    end: int

    @property
    def name(self) -> str:
        """The end as part of a file name: 2024-01-29, or 2024-01-29T06-00-00Z.

        >>> Window(0, DAY).name, Window(0, DAY + 500_000).name
        ('1970-01-02', '1970-01-02T00-00-00-500000Z')
        """
        moment = EPOCH + timedelta(microseconds=self.end)
        if self.end % DAY == 0:
            return moment.strftime("%Y-%m-%d")
        return moment.strftime("%Y-%m-%dT%H-%M-%S" + ("-%fZ" if moment.microsecond else "Z"))


def make_windows(
    oldest: int, newest: int, *, every: int, window: int, since: int | None = None
) -> list[Window]:
    """The windows of edges from `oldest` to `newest`.

    The first one starts at `since`, by default at the oldest edge, rounded down to a whole day,
    hour, minute or second: the longest of which `every` is a multiple. Each of the others ends
    `every` later than the one before it; the last is the first that ends after the newest edge.
    """
    start = since if since is not None else oldest - oldest % _unit(every)
    first_end = start + window
    count = 1 + max(0, -(-(newest + 1 - first_end) // every))
    if count > MAX_WINDOWS:
        raise ParameterError(
            f"embed_snapshots: every={format_duration(every)!r} makes {count:,} windows of these "
            f"edges, more than {MAX_WINDOWS:,}."
        )
    ends = (first_end + number * every for number in range(count))
    return [Window(end - window, end) for end in ends]


def _unit(every: int) -> int:
    units = (DURATION_UNITS[name] for name in ("d", "h", "min", "s"))
    return next((unit for unit in units if every % unit == 0), 1)
