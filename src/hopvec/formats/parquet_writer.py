"""Parquet files of vectors, written as they lie in memory.

A list column of Parquet says for every number whether it begins a list (its repetition level) and
whether it is there (its definition level). For vectors of one length this depends on the number
of rows alone. So a page of vectors is bytes made once, then the numbers themselves; pyarrow, which
works the levels out number by number, takes several times as long. The rest is pyarrow's: the
column of ids, the schema, the metadata. Fields are numbered as in parquet.thrift.
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
    file: BinaryIO, schema: pa.Schema, blocks: Iterable[tuple[pa.Array, NDArray[Any]]]
) -> None:
    """Writes ids and vectors, one row group a block; no part of them is copied.

    `schema` holds a column of ids and one of fixed-size lists, neither with nulls. Ids are
    compressed and have statistics; vectors, being nearly random bits, do without. Every page has
    its checksum, which a thread takes while what comes before is written.
    """
    file.write(MAGIC)
    _, footer = _by_pyarrow(pa.Table.from_batches([], schema))
    groups: list[Struct] = []
    rows = 0
    with ThreadPoolExecutor(1) as ahead:
        for ids, vectors in blocks:
            start = file.tell()
            checksums = ahead.map(_checksum, _pages(vectors))
            columns = [
                _write_ids(file, schema, ids),
                _write_vectors(file, footer, vectors, checksums),
            ]
            groups.append(_row_group(columns, len(ids), start))
            rows += len(ids)
    footer |= {3: Typed(I64, rows), 4: Typed(LIST, Items(STRUCT, groups))}
    data = serialize(footer)
    file.write(data + struct.pack("<I", len(data)) + MAGIC)


def _by_pyarrow(table: pa.Table) -> tuple[memoryview, Struct]:
    """A file that pyarrow writes, in memory, and its footer."""
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


def _write_ids(file: BinaryIO, schema: pa.Schema, ids: pa.Array) -> Struct:
    """Writes the ids; what the footer says of them."""
    only = pa.schema([schema.field("id")])
    data, footer = _by_pyarrow(pa.Table.from_arrays([ids], schema=only))
    (group,) = footer[4].value.values
    (chunk,) = group[1].value.values
    about: Struct = chunk[3].value
    start, size = about[9].value, about[7].value
    about[9] = Typed(I64, file.tell())
    file.write(data[start : start + size])
    return about


def _write_vectors(
    file: BinaryIO, footer: Struct, vectors: NDArray[Any], checksums: Iterable[int]
) -> Struct:
    """Writes vectors; what the footer says of them."""
    start, (count, dim) = file.tell(), vectors.shape
    for page, checksum in zip(_pages(vectors), checksums, strict=True):
        _write_page(file, page, checksum)
    size = Typed(I64, file.tell() - start)
    path = footer[2].value.values[2:]  # embedding, list, element
    return {
        1: path[-1][1],  # the type of a number
        2: Typed(LIST, Items(I32, [PLAIN, RLE])),
        3: Typed(LIST, Items(BINARY, [element[4].value for element in path])),
        4: Typed(I32, UNCOMPRESSED),
        5: Typed(I64, count * max(1, dim)),
        6: size,
        7: size,
        9: Typed(I64, start),
    }


def _pages(vectors: NDArray[Any]) -> list[NDArray[Any]]:
    """The vectors of each page."""
    count, dim = vectors.shape
    step = max(1, PAGE_BYTES // max(1, dim * vectors.itemsize))
    return [vectors[first : first + step] for first in range(0, count, step)]


def _content(page: NDArray[Any]) -> tuple[bytes, memoryview]:
    """The levels and the numbers of a page."""
    return _levels(*page.shape), page.reshape(-1).view(np.uint8).data


def _checksum(page: NDArray[Any]) -> int:
    levels, numbers = _content(page)
    return zlib.crc32(numbers, zlib.crc32(levels))


def _write_page(file: BinaryIO, page: NDArray[Any], checksum: int) -> None:
    levels, numbers = _content(page)
    size = Typed(I32, len(levels) + len(numbers))
    about: Struct = {
        1: Typed(I32, len(page) * max(1, page.shape[1])),
        2: Typed(I32, PLAIN),
        3: Typed(I32, RLE),
        4: Typed(I32, RLE),
    }
    header: Struct = {
        1: Typed(I32, DATA_PAGE),
        2: size,
        3: size,
        4: Typed(I32, checksum - (checksum >> 31 << 32)),  # with a sign
        5: Typed(STRUCT, about),
    }
    file.write(serialize(header) + levels)
    file.write(numbers)


@lru_cache(maxsize=2)
def _levels(count: int, dim: int) -> bytes:
    """The levels of so many vectors: repetition 0, 1, 1, ... in each; definition 1 throughout.

    A vector of no numbers has one entry that is not there.
    """
    row = _run(1, 0) + (_run(dim - 1, 1) if dim > 1 else b"")
    parts = row * count, _run(count * max(1, dim), min(1, dim))
    return b"".join(struct.pack("<I", len(part)) + part for part in parts)


def _run(length: int, value: int) -> bytes:
    """So many times the same level."""
    return varint(length << 1) + bytes([value])


def _row_group(columns: list[Struct], rows: int, start: int) -> Struct:
    raw, stored = (sum(about[field].value for about in columns) for field in (6, 7))
    chunks: list[Struct] = [{2: Typed(I64, 0), 3: Typed(STRUCT, about)} for about in columns]
    return {
        1: Typed(LIST, Items(STRUCT, chunks)),
        2: Typed(I64, raw),
        3: Typed(I64, rows),
        5: Typed(I64, start),
        6: Typed(I64, stored),
    }
