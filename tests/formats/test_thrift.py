"""Thrift footers written by pyarrow are parsed and serialized byte for byte."""

import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hopvec.formats.thrift import BINARY, I64, LIST, STRUCT, Items, Typed, parse, serialize

INTEGERS = st.integers(-(2**63), 2**63 - 1)


def footer_of(table, **options):
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, **options)
    data = sink.getvalue().to_pybytes()
    (size,) = struct.unpack("<I", data[-8:-4])
    return data[-8 - size : -8]


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"id": [1, -2, 3], "name": ["a", None, "c"]}),
        pa.table({f"column{i}": [i / 2] for i in range(40)}),
        pa.table({"list": [[1, 2], []], "map": [{"a": True}, {"a": None}]}),
        pa.table({"time": pa.array([1, 2], pa.timestamp("us", "UTC"))}),
        pa.table({"many": range(1000)}).replace_schema_metadata({"k": "v" * 1000}),
        pa.table({"none": pa.array([], pa.float16())}),
    ],
    ids=lambda table: table.column_names[0],
)
@pytest.mark.parametrize("page_index", [False, True])
def test_a_footer_of_pyarrow_round_trips_byte_for_byte(table, page_index):
    footer = footer_of(table, row_group_size=50, write_page_index=page_index)
    assert serialize(parse(footer)) == footer


@given(
    st.dictionaries(st.integers(1, 300), INTEGERS),
    st.binary(max_size=300),
    st.lists(INTEGERS, max_size=40),
)
def test_a_struct_round_trips(numbers, text, items):
    fields = {number: Typed(I64, value) for number, value in sorted(numbers.items())}
    fields |= {
        400: Typed(BINARY, text),
        401: Typed(LIST, Items(I64, items)),
        2000: Typed(STRUCT, dict(fields)),
    }
    assert parse(serialize(fields)) == fields


def test_an_unsupported_type_is_refused():
    with pytest.raises(NotImplementedError, match="type 7"):
        parse(b"\x17")
