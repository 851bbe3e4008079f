"""Times of edges: columns of dates, timestamps and Unix times, as microseconds since 1970 (UTC)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import FormatError, ParameterError
from hopvec.graph.ids import numpy_view

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = 86_400_000_000  # microseconds
MIN_TIME, MAX_TIME = -719_162 * DAY, 2_932_897 * DAY - 1  # of the years 1 to 9999
DURATION_UNITS = {
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": DAY,
    "w": 7 * DAY,
    "y": 365 * DAY,
}
DURATION = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-z]+)\s*", re.IGNORECASE)
NUMBER = r"^[+-]?\d+(\.\d*)?$"
EXAMPLES = (
    "ISO dates such as 2024-05-31 or 2024-05-31T12:00:00Z, Unix time in seconds, milliseconds, "
    "microseconds or nanoseconds, years, or YYYYMMDD"
)
TIMESTAMPS = "Arrow timestamps"
ISO = {"ISO dates": None, "ISO dates with a time zone": "UTC"}  # without a zone they are UTC


class NumberKind(NamedTuple):
    """One of the ways to write a time as a number."""

    name: str
    low: float
    """The smallest magnitude; every number has at most one kind among those of Unix time."""
    high: float
    """The first magnitude that is too large."""
    to_micros: Callable[[NDArray[Any]], NDArray[Any]]


def _years(years: NDArray[Any]) -> NDArray[np.int64]:
    return _days(years.astype(np.int64), np.ones(len(years), np.int64))


def _year_month_days(dates: NDArray[Any]) -> NDArray[np.int64]:
    whole = dates.astype(np.int64)
    day = whole % 100
    first = _days(whole // 10_000, np.clip(whole // 100 % 100, 1, 12))
    return first + (day - 1) * DAY


def _days(years: NDArray[np.int64], months: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first moments of months."""
    since_1970 = ((years - 1970) * 12 + months - 1).astype("datetime64[M]")
    return since_1970.astype("datetime64[D]").astype(np.int64) * DAY


def _scaled(micros: int) -> Callable[[NDArray[Any]], NDArray[Any]]:
    return lambda numbers: (
        np.rint(numbers * micros) if numbers.dtype.kind == "f" else numbers * micros
    )


UNIX = (
    NumberKind("Unix time in seconds", 0, 1e11, _scaled(1_000_000)),
    NumberKind("Unix time in milliseconds", 1e11, 1e14, _scaled(1_000)),
    NumberKind("Unix time in microseconds", 1e14, 1e17, _scaled(1)),
    NumberKind("Unix time in nanoseconds", 1e17, 9.2e18, lambda numbers: numbers // 1000),
)
CALENDAR = (
    NumberKind("years", 1000, 3000, _years),
    NumberKind("dates as YYYYMMDD", 10_000_101, 30_000_000, _year_month_days),
)


class TimeParser:
    """Parses a column of times that arrives in batches.

    The first batch with readable times decides what kind of times the column holds. Times of
    another kind are unreadable from then on, so that a column is never read in two ways.

    >>> times = TimeParser()
    >>> times.parse(pa.array(["1970-01-02", None]))
    (array([86400000000,           0]), array([ True, False]))
    >>> times.kind
    'ISO dates'
    """

    def __init__(self, kind: str | None = None) -> None:
        self.kind: str | None = kind
        """What the column holds, such as "Unix time in seconds"; None before the first time."""

    def parse(self, array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the times of a batch in microseconds, and a mask of those that could be read."""
        import pyarrow.compute as pc

        array = _plain(array)
        if pa.types.is_timestamp(array.type) or pa.types.is_date(array.type):
            return self._timestamps(array)
        if _is_text(array.type):
            text = pc.utf8_trim_whitespace(array)
            return self._text(pc.if_else(pc.equal(text, ""), None, text))
        if pa.types.is_null(array.type):
            return np.zeros(len(array), np.int64), np.zeros(len(array), bool)
        numbers = None if pa.types.is_boolean(array.type) else _as_numbers(array)
        if numbers is None:
            raise FormatError(f"the column of times holds {array.type}. Times are {EXAMPLES}.")
        return self._numbers(numbers)

    def fault(self, array: pa.Array, row: int) -> str:
        """Why a time could not be read."""
        if is_missing(array).item(row):
            return "the time is missing"
        expected = f"times in this column are {self.kind}" if self.kind else f"times are {EXAMPLES}"
        return f"the time {str(array[row])!r} cannot be read; {expected}"

    def _is_kind(self, kind: str) -> bool:
        """Whether the column holds times of a kind; the first kind is remembered."""
        if self.kind is None:
            self.kind = kind
        return self.kind == kind

    def _timestamps(self, array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        readable = ~_null_mask(array)
        if readable.any() and not self._is_kind(TIMESTAMPS):
            readable[:] = False
        if pa.types.is_date32(array.type):
            micros = _int64(array.cast(pa.int32()).cast(pa.int64()))
            scale = DAY
        else:
            unit = "ms" if pa.types.is_date(array.type) else array.type.unit
            micros = _int64(array.view(pa.int64()))
            if unit == "ns":
                return _limited(micros // 1000, readable)
            scale = {"s": 1_000_000, "ms": 1000, "us": 1}[unit]
        in_range = (micros >= MIN_TIME // scale) & (micros <= MAX_TIME // scale)
        readable &= in_range
        return _limited(np.where(readable, micros, 0) * scale, readable)

    def _text(self, text: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Parse strings: a batch of one kind at once, and a mixed one cell by cell."""
        if self.kind not in ISO and (numbers := _as_numbers(text)) is not None:
            return self._numbers(numbers)
        for kind, zone in ISO.items():
            if self.kind in (None, kind) and (found := _as_timestamps(text, zone)) is not None:
                if found.null_count < len(found):
                    self.kind = kind
                return _limited(_int64(found.view(pa.int64())), ~_null_mask(found))
        return self._mixed_text(text)

    def _mixed_text(self, text: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        import pyarrow.compute as pc

        micros = np.zeros(len(text), np.int64)
        kinds = np.full(len(text), "", dtype=object)
        is_number = pc.fill_null(pc.match_substring_regex(text, NUMBER), False)
        kinds[is_number.to_numpy(zero_copy_only=False)] = "numbers"
        for row in np.flatnonzero(kinds == "").tolist():
            found = _iso_time(text[row].as_py())
            if found is not None:
                kinds[row], micros[row] = found
        if self.kind is None:
            names, counts = np.unique(kinds[kinds != ""].astype(str), return_counts=True)
            most = str(names[counts.argmax()]) if len(names) else ""
        else:
            most = self.kind if self.kind in ISO else "numbers"
        if most == "numbers":
            numbers = pc.if_else(is_number, text, None)
            return self._numbers(_as_numbers(numbers))
        if most:
            self.kind = most
        return _limited(micros, kinds == most if most else np.zeros(len(text), bool))

    def _numbers(self, array: pa.Array | None) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if array is None:
            raise FormatError("the column of times holds numbers that are out of range.")
        numbers, readable = _values(array), ~_null_mask(array)
        if numbers.dtype.kind == "f":
            readable &= np.isfinite(numbers)
            numbers = np.where(readable, numbers, 0)
        if not readable.any():
            return np.zeros(len(numbers), np.int64), readable
        kind = _number_kind(numbers[readable])
        if self.kind is not None:
            known = [other for other in (*UNIX, *CALENDAR) if other.name == self.kind]
            if not known:
                return np.zeros(len(numbers), np.int64), np.zeros(len(numbers), bool)
            kind = known[0]
        readable &= _has_kind(numbers, kind)
        if readable.any():
            self.kind = kind.name
        numbers = np.where(readable, numbers, numbers.dtype.type(kind.low))
        return _limited(kind.to_micros(numbers).astype(np.int64), readable)


def is_missing(array: pa.Array) -> NDArray[np.bool_]:
    """A mask of the cells of a column of times that are null, NaN or empty."""
    import pyarrow.compute as pc

    array = _plain(array)
    missing = _null_mask(array)
    if _is_text(array.type):
        empty = pc.fill_null(pc.equal(pc.utf8_trim_whitespace(array), ""), True)
        missing = missing | empty.to_numpy(zero_copy_only=False)
    elif pa.types.is_floating(array.type):
        missing = missing | np.isnan(array.to_numpy(zero_copy_only=False))
    return missing


def parse_time(owner: str, name: str, value: Any) -> int:
    """A moment in microseconds since 1970 (UTC): ISO text, a number, a date or a datetime.

    >>> parse_time("read_graph", "since", "1970-01-02"), parse_time("read_graph", "since", 1971)
    (86400000000, 31536000000000)
    """
    allowed = isinstance(value, str | int | float | np.number | date | np.datetime64)
    if allowed and not isinstance(value, bool):
        try:
            micros, readable = TimeParser().parse(
                pa.array(np.array([value]) if isinstance(value, np.datetime64) else [value])
            )
            if readable.all():
                return int(micros[0])
        except (pa.ArrowException, FormatError, OverflowError, ValueError):
            pass
    raise ParameterError(
        f"{owner}: {name} must be a time: an ISO date such as '2024-05-31' or "
        f"'2024-05-31T12:00:00Z', a date, or Unix time, got {value!r}."
    )


def parse_duration(owner: str, name: str, value: Any) -> int:
    """A duration in microseconds: a number with a unit, or a timedelta.

    >>> parse_duration("read_graph", "half_life", "30d") // DAY
    30
    """
    if isinstance(value, timedelta | np.timedelta64):
        micros = int(np.timedelta64(value, "us").astype(np.int64))
        if micros > 0:
            return micros
    found = DURATION.fullmatch(value) if isinstance(value, str) else None
    unit = found[2] if found else ""
    if found and unit in DURATION_UNITS:
        micros = round(float(found[1]) * DURATION_UNITS[unit])
        if 0 < micros <= MAX_TIME:
            return micros
    hint = " 'm' could be minutes or months: write min, or 30d for a month." if unit == "m" else ""
    raise ParameterError(
        f"{owner}: {name} must be a positive duration such as '30d', with one of the units "
        f"{', '.join(DURATION_UNITS)}, got {value!r}.{hint}"
    )


def format_time(micros: int) -> str:
    """A time in ISO format, UTC.

    >>> format_time(0), format_time(1_500_000)
    ('1970-01-01', '1970-01-01T00:00:01.500000Z')
    """
    moment = EPOCH + timedelta(microseconds=micros)
    return str(moment.date()) if micros % DAY == 0 else moment.isoformat().replace("+00:00", "Z")


def format_duration(micros: int) -> str:
    """A duration with the largest unit of which it is a multiple.

    >>> format_duration(30 * DAY), format_duration(90_000_000), format_duration(1_500_000)
    ('30d', '90s', '1.5s')
    """
    for unit in ("d", "h", "min"):
        if micros % DURATION_UNITS[unit] == 0:
            return f"{micros // DURATION_UNITS[unit]}{unit}"
    return f"{micros / 1_000_000:g}s"


def _number_kind(numbers: NDArray[Any]) -> NumberKind:
    """The kind of most numbers: years, YYYYMMDD, or Unix time by the median magnitude."""
    for kind in CALENDAR:
        if 2 * np.count_nonzero(_has_kind(numbers, kind)) >= len(numbers):
            return kind
    median = np.sort(np.abs(numbers.astype(np.float64)))[(len(numbers) - 1) // 2]
    return next((kind for kind in UNIX if median < kind.high), UNIX[-1])


def _has_kind(numbers: NDArray[Any], kind: NumberKind) -> NDArray[np.bool_]:
    """A mask of the numbers that may be times of a kind."""
    if kind in CALENDAR:
        possible: NDArray[np.bool_] = (
            (numbers >= kind.low) & (numbers < kind.high) & (numbers == np.rint(numbers))
        )
        if kind.to_micros is _year_month_days:
            whole = np.where(possible, numbers, kind.low).astype(np.int64)
            back = (_year_month_days(whole) // DAY).astype("datetime64[D]")
            months = back.astype("datetime64[M]")
            day = (back - months.astype("datetime64[D]")).astype(np.int64) + 1
            month = months.astype(np.int64) % 12 + 1
            possible &= (month == whole // 100 % 100) & (day == whole % 100)
        return possible
    size = np.abs(numbers.astype(np.float64))
    result: NDArray[np.bool_] = (size >= kind.low) & (size < kind.high)
    return result


def _plain(array: pa.Array) -> pa.Array:
    """A column without extension types, dictionaries and views."""
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage)
    if pa.types.is_dictionary(array.type):
        values = _plain(array.dictionary)
        return pa.DictionaryArray.from_arrays(array.indices, values).dictionary_decode()
    return array.cast(pa.large_string()) if str(array.type) == "string_view" else array


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _as_numbers(array: pa.Array) -> pa.Array | None:
    """A column as int64, or else as float64; None if it does not hold numbers."""
    if not _is_text(array.type) and pa.types.is_floating(array.type):
        return array.cast(pa.float64())
    for kind in (pa.int64(), pa.float64()):
        try:
            return array.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            continue
    return None


def _as_timestamps(text: pa.Array, zone: str | None) -> pa.Array | None:
    """ISO dates as timestamps, without digits beyond microseconds; None if some cannot be read."""
    import pyarrow.compute as pc

    try:
        return text.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid:
        pass
    try:
        shorter = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
        return shorter.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid:
        return None


def _iso_time(cell: str | None) -> tuple[str, int] | None:
    """The kind of an ISO date, and its time; None for other strings."""
    try:
        found = datetime.fromisoformat(cell or "")
    except ValueError:
        return None
    kind = list(ISO)[found.tzinfo is not None]
    moment = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    return kind, (moment - EPOCH) // timedelta(microseconds=1)


def _values(array: pa.Array) -> NDArray[Any]:
    """The numbers of a column, 0 where it is null."""
    import pyarrow.compute as pc

    values = numpy_view(pc.fill_null(array, 0) if array.null_count else array)
    return values.astype(array.type.to_pandas_dtype(), copy=False) if not len(values) else values


def _int64(array: pa.Array) -> NDArray[np.int64]:
    return _values(array).astype(np.int64, copy=False)


def _null_mask(array: pa.Array) -> NDArray[np.bool_]:
    if not array.null_count:
        return np.zeros(len(array), bool)
    mask: NDArray[np.bool_] = array.is_null().to_numpy(zero_copy_only=False).astype(bool)
    return mask


def _limited(
    micros: NDArray[np.int64], readable: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Times of the years 1 to 9999; others are not readable."""
    readable = readable & (micros >= MIN_TIME) & (micros <= MAX_TIME)
    return np.where(readable, micros, 0), readable
