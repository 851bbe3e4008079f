"""Columns of times: the kind is recognized once, and every time of another kind is unreadable."""

from datetime import UTC, date, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec.errors import FormatError, ParameterError
from hopvec.graph.times import (
    DAY,
    TimeParser,
    format_duration,
    format_time,
    parse_duration,
    parse_time,
)

MOMENT = datetime(2024, 5, 31, 12, 30, 15, tzinfo=UTC)
SECONDS = int(MOMENT.timestamp())
MICROS = SECONDS * 1_000_000


def parse(*batches):
    """The times of batches, None where they cannot be read, and the kind of the column."""
    parser, found = TimeParser(), []
    for batch in batches:
        times, readable = parser.parse(batch if isinstance(batch, pa.Array) else pa.array(batch))
        pairs = zip(times.tolist(), readable.tolist(), strict=True)
        found += [time if good else None for time, good in pairs]
    return found, parser.kind


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["2024-05-31T12:30:15"], "ISO dates"),
        (["2024-05-31 12:30:15.000000999"], "ISO dates"),
        (["2024-05-31T12:30:15Z"], "ISO dates with a time zone"),
        (["2024-05-31T14:30:15+02:00"], "ISO dates with a time zone"),
        ([str(SECONDS)], "Unix time in seconds"),
        ([f"{SECONDS}.0"], "Unix time in seconds"),
        ([SECONDS], "Unix time in seconds"),
        ([float(SECONDS)], "Unix time in seconds"),
        ([SECONDS * 10**3], "Unix time in milliseconds"),
        ([SECONDS * 10**6], "Unix time in microseconds"),
        ([SECONDS * 10**9 + 999], "Unix time in nanoseconds"),
        ([MOMENT], "Arrow timestamps"),
        ([MOMENT.astimezone(timezone(timedelta(hours=5)))], "Arrow timestamps"),
        (pa.array([SECONDS], pa.timestamp("s")), "Arrow timestamps"),
        (pa.array([SECONDS * 10**9 + 999], pa.timestamp("ns", "Asia/Tokyo")), "Arrow timestamps"),
        (pa.array(["2024-05-31T12:30:15"]).dictionary_encode(), "ISO dates"),
    ],
)
def test_the_same_moment_is_read_from_every_kind(values, kind):
    assert parse(values) == ([MICROS], kind)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["2024-01-01"], "ISO dates"),
        (["2024"], "years"),
        ([2024], "years"),
        ([20240101], "dates as YYYYMMDD"),
        ([date(2024, 1, 1)], "Arrow timestamps"),
        (pa.array([date(2024, 1, 1)], pa.date64()), "Arrow timestamps"),
    ],
)
def test_dates_are_their_first_moment(values, kind):
    assert parse(values) == ([parse_time("", "", "2024-01-01")], kind)


@pytest.mark.parametrize(
    ("first", "later"),
    [
        (["2024-05-31"], ["2024-05-31T00:00:00Z", "1717113600", "31.5.2024"]),
        ([SECONDS], [SECONDS * 1000]),
        ([SECONDS * 1000], [SECONDS, 0]),
        ([2023, 2024], [20240, 999]),
        ([20240531], [20240230, SECONDS]),
        ([str(SECONDS)], ["2024-05-31"]),
    ],
)
def test_times_of_another_kind_are_unreadable_in_the_same_batch_and_in_later_ones(first, later):
    good = parse(first)[0]
    assert parse(first, later)[0] == good + [None] * len(later)
    assert parse(2 * first + 2 * first + later)[0] == 4 * good + [None] * len(later)


def test_missing_times_are_unreadable_and_decide_no_kind():
    assert parse(["", None, " "], ["2024-05-31"]) == ([None] * 3 + [1717113600000000], "ISO dates")
    assert parse([float("nan"), 2024.0])[0] == [None, 1704067200000000]
    assert parse(pa.nulls(2), [MOMENT])[0] == [None, None, MICROS]


def test_the_fault_names_the_cell_and_the_kind_of_the_column():
    parser, cells = TimeParser(), pa.array(["2024-05-31", "yesterday", ""])
    assert (
        TimeParser()
        .fault(cells, 1)
        .startswith("the time 'yesterday' cannot be read; times are ISO dates such as 2024-05-31")
    )
    parser.parse(cells)
    assert parser.fault(cells, 1).endswith("times in this column are ISO dates")
    assert parser.fault(cells, 2) == "the time is missing"


def test_columns_that_cannot_hold_times_are_refused():
    with pytest.raises(FormatError, match="the column of times holds bool"):
        parse([True])
    with pytest.raises(FormatError, match="the column of times holds list"):
        parse([[1]])


def test_relative_seconds_are_unix_time_in_seconds():
    assert parse([0, 5, 1500, 69_459_254])[0] == [0, 5_000_000, 1_500_000_000, 69_459_254_000_000]


@given(st.lists(st.datetimes(min_value=datetime(1700, 1, 1), max_value=datetime(2200, 1, 1))))
def test_text_and_timestamps_agree(moments):
    utc = [moment.replace(tzinfo=UTC) for moment in moments]
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    expected = [(moment - epoch) // timedelta(microseconds=1) for moment in utc]
    assert parse([moment.isoformat() for moment in moments])[0] == expected
    assert parse([moment.isoformat() for moment in utc])[0] == expected
    assert parse(pa.array(utc, pa.timestamp("us", "UTC")))[0] == expected
    assert parse(pa.array(utc, pa.timestamp("ns", "UTC")))[0] == expected


@given(st.integers(0, 60), st.integers(-(10**16), 10**16))
def test_batches_of_one_kind_and_mixed_batches_read_the_same_times(bad, micros):
    text = format_time(micros)
    assert parse([text] * 3)[0] == [micros] * 3
    assert parse([text] * 3 + ["bad" * bad])[0] == [micros] * 3 + [None]


@pytest.mark.parametrize(
    ("value", "days"),
    [
        ("1970-01-02", 1),
        ("1970-01-02T00:00:00Z", 1),
        ("1971", 365),
        (1971, 365),
        (86400, 1),
        ("86400", 1),
        (date(1970, 1, 2), 1),
        (datetime(1970, 1, 2), 1),
        (np.datetime64("1970-01-02"), 1),
        (np.datetime64("1970-01-02T00:00:00.000000000"), 1),
    ],
)
def test_a_moment_is_given_in_any_of_these_ways(value, days):
    assert parse_time("read_graph", "since", value) == days * DAY


@pytest.mark.parametrize("value", ["yesterday", "", None, True, float("nan"), [2024], "2024-13-01"])
def test_other_moments_are_refused(value):
    with pytest.raises(ParameterError, match="read_graph: since must be a time: an ISO date"):
        parse_time("read_graph", "since", value)


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("90s", 90_000_000),
        ("5 min", 300_000_000),
        ("1.5h", 5_400_000_000),
        ("30d", 30 * DAY),
        ("2w", 14 * DAY),
        ("1y", 365 * DAY),
        (timedelta(days=2), 2 * DAY),
        (np.timedelta64(36, "h"), 3 * DAY // 2),
    ],
)
def test_a_duration_has_a_number_and_a_unit(text, micros):
    assert parse_duration("read_graph", "half_life", text) == micros
    assert parse_duration("", "", format_duration(micros)) == micros


@pytest.mark.parametrize("value", ["30", "d", "-3d", "0d", 30, None, "1 month", "99999999y"])
def test_other_durations_are_refused(value):
    with pytest.raises(ParameterError, match="half_life must be a positive duration such as '30d'"):
        parse_duration("read_graph", "half_life", value)


def test_m_is_ambiguous():
    with pytest.raises(ParameterError, match="'m' could be minutes or months"):
        parse_duration("read_graph", "half_life", "5m")
