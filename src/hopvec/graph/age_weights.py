"""AgeWeights: a window of time, and weights that halve with the age of an edge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, GraphError, ParameterError
from hopvec.graph.ids import as_ids
from hopvec.graph.times import (
    TimeParser,
    format_duration,
    format_time,
    is_missing,
    parse_duration,
    parse_time,
)
from hopvec.graph.validation import MIN_WEIGHT, checked_weights

CHUNK = 1 << 17  # edges whose weights are computed together
MIN_AGE_WEIGHT = 1e5 * MIN_WEIGHT  # the factors of relations must not make it smaller than allowed
MISSING, UNREADABLE = "the time is missing", "the time cannot be read"
AFTER = "the time is in the future"  # after as_of
# 2^-r = e^(-r log 2) for |r| <= 1/2, by its Taylor series, exact to the last bit or two. Sums and
# products of float64 are the same on every processor, unlike the powers of mathematical libraries.
LOG_2 = 0.6931471805599453
TAYLOR = tuple(accumulate(range(1, 15), lambda term, power: term * -LOG_2 / power, initial=1.0))


@dataclass(frozen=True)
class TimeOptions:
    """What happens with the times of edges; all times are microseconds since 1970 (UTC)."""

    half_life: int | None = None
    as_of: int | None = None
    since: int | None = None
    until: int | None = None

    @classmethod
    def checked(
        cls,
        owner: str,
        time: Any,
        half_life: Any = None,
        as_of: Any = None,
        since: Any = None,
        until: Any = None,
    ) -> TimeOptions:
        """The options of `read_graph` and others; raises ParameterError for invalid ones."""
        given = {"half_life": half_life, "as_of": as_of, "since": since, "until": until}
        for name, value in given.items():
            if value is not None and time is None:
                raise ParameterError(f"{owner}: {name}= needs time=, the times of the edges.")
        if as_of is not None and half_life is None:
            raise ParameterError(f"{owner}: as_of= needs half_life=.")
        times = {
            name: None if given[name] is None else parse_time(owner, name, given[name])
            for name in ("as_of", "since", "until")
        }
        options = cls(
            None if half_life is None else parse_duration(owner, "half_life", half_life), **times
        )
        start, end = options.since, options.until
        if start is not None and end is not None and start >= end:
            raise ParameterError(
                f"{owner}: since= must be before until=, got {since!r} and {until!r}."
            )
        return options

    def inside(self, times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of the times with since <= time < until."""
        mask = np.ones(len(times), bool)
        if self.since is not None:
            mask &= times >= self.since
        if self.until is not None:
            mask &= times < self.until
        return mask


@dataclass
class EdgeTimes:
    """Reads the times of edges, batch by batch: finds bad ones, and applies the window."""

    options: TimeOptions
    parser: TimeParser = field(default_factory=TimeParser)
    oldest: int | None = None
    """The first time of all edges, also of those outside the window."""
    newest: int | None = None
    span: tuple[int, int] | None = None
    """The first and last time inside the window."""
    outside: int = 0
    """The number of edges outside the window."""

    def parse(self, array: pa.Array) -> tuple[NDArray[np.int64], dict[str, NDArray[np.bool_]]]:
        """The times of a batch, and masks of those that are bad, by reason."""
        times, readable = self.parser.parse(array)
        bad = {}
        if not readable.all():
            missing = is_missing(array)
            bad = {MISSING: missing, UNREADABLE: ~readable & ~missing}
        as_of = self.options.as_of
        if as_of is not None:
            bad[AFTER] = readable & (times > as_of) & self.options.inside(times)
        return times, bad

    def refuse(
        self,
        array: pa.Array,
        times: NDArray[np.int64],
        bad: dict[str, NDArray[np.bool_]],
        location: Callable[[int], str],
        advice: str = "",
    ) -> None:
        """Raise GraphError for the first bad time of a batch."""
        firsts = [int(np.argmax(mask)) for mask in bad.values() if mask.any()]
        if not firsts:
            return
        row = min(firsts)
        if AFTER in bad and bad[AFTER][row] and self.options.as_of is not None:
            raise GraphError(
                f"{location(row)}: the time {format_time(int(times[row]))} is after as_of="
                f"{format_time(self.options.as_of)!r}. Leave later edges out with until=. {advice}"
            )
        raise GraphError(f"{location(row)}: {self.parser.fault(array, row)}. {advice}")

    def select(self, times: NDArray[np.int64]) -> NDArray[np.bool_]:
        """A mask of the edges inside the window; the others are counted."""
        if not len(times):
            return np.zeros(0, bool)
        low, high = int(times.min()), int(times.max())
        self.oldest = low if self.oldest is None else min(self.oldest, low)
        self.newest = high if self.newest is None else max(self.newest, high)
        inside = self.options.inside(times)
        self.outside += len(times) - int(np.count_nonzero(inside))
        if inside.any():
            low, high = int(times[inside].min()), int(times[inside].max())
            before = self.span or (low, high)
            self.span = (min(before[0], low), max(before[1], high))
        return inside

    @property
    def as_of(self) -> int:
        """The time at which ages are 0: that of the options, or the newest inside the window."""
        if self.options.as_of is not None:
            return self.options.as_of
        return self.span[1] if self.span else 0

    @property
    def by_age(self) -> bool:
        """Whether weights depend on age."""
        return self.options.half_life is not None

    def weigh(
        self, weights: NDArray[np.float32] | None, times: NDArray[np.int64]
    ) -> NDArray[np.float32] | None:
        """The weights by age, if there is a half-life; call it when all times have been read."""
        half_life = self.options.half_life
        return weights if half_life is None else age_weights(weights, times, self.as_of, half_life)

    def check_not_empty(self, name: str) -> None:
        """Raise GraphError if there are edges, but none of them is inside the window."""
        if self.outside and self.span is None and self.oldest is not None:
            raise GraphError(
                f"{name}: all {self.outside:,} edges are outside the window of since= and until=; "
                f"their times are from {format_time(self.oldest)} to "
                f"{format_time(self.newest or self.oldest)}."
            )

    def describe(self) -> dict[str, Any]:
        """For the run report: the kind of times, their span, the window and the half-life."""
        oldest, newest = self.span or (None, None)
        return describe_times(self.parser.kind, oldest, newest, self.outside, self.options)


def describe_times(
    kind: str | None, oldest: int | None, newest: int | None, outside: int, options: TimeOptions
) -> dict[str, Any]:
    """For the run report: the kind of times, their span, the window and the half-life."""
    found: dict[str, Any] = {"kind": kind}
    if oldest is not None and newest is not None:
        found |= {"oldest": format_time(oldest), "newest": format_time(newest)}
    for name in ("since", "until"):
        if (limit := getattr(options, name)) is not None:
            found[name] = format_time(limit)
    if options.since is not None or options.until is not None:
        found["outside"] = outside
    if options.half_life is not None:
        as_of = options.as_of if options.as_of is not None else newest
        found["half_life"] = format_duration(options.half_life)
        found["as_of"] = None if as_of is None else format_time(as_of)
    return found


def age_weights(
    weights: NDArray[np.float32] | None,
    times: NDArray[np.int64],
    as_of: int,
    half_life: int,
) -> NDArray[np.float32]:
    """Weight * 0.5 ** ((as_of - time) / half_life), as float32; 0 below 1e-25."""
    x = (as_of - times).astype(np.float64) / float(half_life)
    halvings = np.minimum(np.rint(x), 2000.0)  # then the weight is 0 in any case
    rest = np.clip(x - halvings, -0.5, 0.5)
    power = np.full(len(x), TAYLOR[-1])
    for coefficient in TAYLOR[-2::-1]:
        power *= rest
        power += coefficient
    power = np.ldexp(power, -halvings.astype(np.int32))
    if weights is not None:
        power *= weights.astype(np.float64)
    power[power < MIN_AGE_WEIGHT] = 0.0
    aged: NDArray[np.float32] = power.astype(np.float32)
    return aged


def select_by_time(
    source: Any, target: Any, weight: Any, relation: Any, time: Any, times: EdgeTimes
) -> tuple[Any, Any, Any, Any]:
    """The columns of the edges inside the window, with weights by age if there is a half-life."""
    source, target = as_ids(source, "source"), as_ids(target, "target")
    cells = _time_column(time)
    if not len(source) == len(target) == len(cells):
        raise GraphError(
            f"time must contain one time per edge: {len(source):,} edges, got {len(cells):,}."
        )
    weight = None if weight is None else checked_weights(weight, source, target)
    try:
        moments, bad = times.parse(cells)
    except FormatError as error:
        raise GraphError(f"time: {error}") from error

    def location(row: int) -> str:
        ends = (pa.array(ids[row : row + 1])[0].as_py() for ids in (source, target))
        return f"edge {row + 1} ({' - '.join(map(repr, ends))})"

    times.refuse(cells, moments, bad, location)
    inside = times.select(moments)
    times.check_not_empty("time")
    if not inside.all():
        mask = pa.array(inside)
        source, target = (
            ids[inside] if isinstance(ids, np.ndarray) else ids.filter(mask)
            for ids in (source, target)
        )
        weight, moments = None if weight is None else weight[inside], moments[inside]
        if relation is not None:
            relation = pa.array(relation).filter(mask)
    return source, target, times.weigh(weight, moments), relation


def _time_column(time: Any) -> pa.Array:
    """A column of times as an Arrow array."""
    if isinstance(time, np.ndarray) and time.dtype.kind == "U":
        time = time.tolist()
    try:
        if hasattr(time, "__arrow_c_stream__") and not isinstance(time, pa.Array):
            return pa.chunked_array(time).combine_chunks()
        return pa.array(time)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise GraphError(f"time must be a column of times ({error}).") from error
