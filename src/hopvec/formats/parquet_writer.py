"""Writes Parquet files of vectors straight from memory, several times faster than pyarrow.

A list column of Parquet stores for each value whether it begins a list (its repetition level) and
whether it is present (its definition level). pyarrow computes these levels value by value. For
vectors of equal length they depend only on the number of rows, so a page is a constant prefix
followed by the values as they are in memory. pyarrow writes the rest: the ids, the schema and the
metadata. Fields are numbered as in parquet.thrift.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.formats.thrift import (
    BINARY,
    I32,
    I64,
    LIST,
    STRUCT,
    Items,
    Struct,
    Typed,
    parse,
    serialize,
    varint,
)

MAGIC = b"PAR1"
PAGE_BYTES = 1 << 20
DATA_PAGE, UNCOMPRESSED = 0, 0
PLAIN, RLE = 0, 3  # encodings


def write_parquet(
    file: BinaryIO, schema: pa.Schema, blocks: Iterable[tuple[list[pa.Array], NDArray[Any]]]
) -> None:
    """Write ids, types and vectors, one row group per block, without copying the vectors.

    `schema` has a column of ids, one of types if there are any, and one of fixed-size lists. Ids
    are compressed and have statistics; vectors, whose bits are nearly random, have neither. Every
    page has a checksum, which a second thread computes while earlier pages are written.
    """
    file.write(MAGIC)
    _, footer = _written_by_pyarrow(pa.Table.from_batches([], schema))
    groups: list[Struct] = []
    rows = 0
    with ThreadPoolExecutor(1) as executor:
        for beside, vectors in blocks:
            start = file.tell()
            checksums = executor.map(_checksum, _pages(vectors))
            columns = [
                *(_write_column(file, schema.field(at), one) for at, one in enumerate(beside)),
                _write_vectors(file, footer, vectors, checksums),
            ]
            groups.append(_row_group(columns, len(vectors), start))
            rows += len(vectors)
    footer |= {3: Typed(I64, rows), 4: Typed(LIST, Items(STRUCT, groups))}
    data = serialize(footer)
    file.write(data + struct.pack("<I", len(data)) + MAGIC)


def _written_by_pyarrow(table: pa.Table) -> tuple[memoryview, Struct]:
    """The bytes of the file that pyarrow writes for a table, and its footer."""
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        row_group_size=max(1, len(table)),
        compression="zstd",
        use_dictionary=False,
        write_statistics=["id"],
        write_page_checksum=True,
    )
    data = memoryview(sink.getvalue())
    (size,) = struct.unpack("<I", data[-8:-4])
    return data, parse(bytes(data[-8 - size : -8]))


def _write_column(file: BinaryIO, field: pa.Field, values: pa.Array) -> Struct:
    """Write the ids or the types and return their column metadata for the footer."""
    data, footer = _written_by_pyarrow(pa.Table.from_arrays([values], schema=pa.schema([field])))
    (group,) = footer[4].value.values
    (chunk,) = group[1].value.values
    column: Struct = chunk[3].value
    start, size = column[9].value, column[7].value
    column[9] = Typed(I64, file.tell())
    file.write(data[start : start + size])
    return column


def _write_vectors(
    file: BinaryIO, footer: Struct, vectors: NDArray[Any], checksums: Iterable[int]
) -> Struct:
    """Write the vectors and return their column metadata for the footer."""
    start, (count, dim) = file.tell(), vectors.shape
    for page, checksum in zip(_pages(vectors), checksums, strict=True):
        _write_page(file, page, checksum)
    size = Typed(I64, file.tell() - start)
    path = footer[2].value.values[-3:]  # embedding, list, element
    return {
        1: path[-1][1],  # the type of the values
        2: Typed(LIST, Items(I32, [PLAIN, RLE])),
        3: Typed(LIST, Items(BINARY, [element[4].value for element in path])),
        4: Typed(I32, UNCOMPRESSED),
        5: Typed(I64, count * max(1, dim)),
        6: size,
        7: size,
        9: Typed(I64, start),
    }


def _pages(vectors: NDArray[Any]) -> list[NDArray[Any]]:
    """The vectors, split into pages."""
    count, dim = vectors.shape
    step = max(1, PAGE_BYTES // max(1, dim * vectors.itemsize))
    return [vectors[first : first + step] for first in range(0, count, step)]


def _content(page: NDArray[Any]) -> tuple[bytes, memoryview]:
    """The levels and the values of a page."""
    return _levels(*page.shape), page.reshape(-1).view(np.uint8).data


def _checksum(page: NDArray[Any]) -> int:
    levels, values = _content(page)
    return zlib.crc32(values, zlib.crc32(levels))


def _write_page(file: BinaryIO, page: NDArray[Any], checksum: int) -> None:
    levels, values = _content(page)
    size = Typed(I32, len(levels) + len(values))
    data_header: Struct = {
        1: Typed(I32, len(page) * max(1, page.shape[1])),
        2: Typed(I32, PLAIN),
        3: Typed(I32, RLE),
        4: Typed(I32, RLE),
    }
    header: Struct = {
        1: Typed(I32, DATA_PAGE),
        2: size,
        3: size,
        4: Typed(I32, checksum - (checksum >> 31 << 32)),  # as a signed integer
        5: Typed(STRUCT, data_header),
    }
    file.write(serialize(header) + levels)
    file.write(values)


@lru_cache(maxsize=2)
def _levels(count: int, dim: int) -> bytes:
    """The levels of `count` vectors: repetition 0, 1, 1, ... in each, definition 1 throughout.

    A vector of length 0 has one entry, which is not present (definition 0).
    """
    row = _run(1, 0) + (_run(dim - 1, 1) if dim > 1 else b"")
    parts = row * count, _run(count * max(1, dim), min(1, dim))
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def _run(length: int, value: int) -> bytes:
    """A run of `length` equal levels."""
    return varint(length << 1) + bytes([value])


def _row_group(columns: list[Struct], rows: int, start: int) -> Struct:
    raw, stored = (sum(column[field].value for column in columns) for field in (6, 7))
    chunks: list[Struct] = [{2: Typed(I64, 0), 3: Typed(STRUCT, column)} for column in columns]
    return {
        1: Typed(LIST, Items(STRUCT, chunks)),
        2: Typed(I64, raw),
        3: Typed(I64, rows),
        5: Typed(I64, start),
        6: Typed(I64, stored),
    }
