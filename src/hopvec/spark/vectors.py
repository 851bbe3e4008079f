"""Rows of vectors on their way: cut into chunks, and set beside their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.spark.graph import CHUNK
from hopvec.spark.tables import FEW_ROWS

PARTS = "block int, chunk int, slab int, rows binary"


def cut(
    rows: NDArray[np.float32], *, block: int, chunk: int = 0, slab: int
) -> Iterator[pa.RecordBatch]:
    """Rows of a slab, from the first of a chunk on, as PARTS of one chunk each."""
    line = rows.shape[1] * rows.itemsize
    chunks = -(-len(rows) // CHUNK)
    for first in range(0, chunks, FEW_ROWS):
        count = min(FEW_ROWS, chunks - first)
        some = rows[CHUNK * first : CHUNK * (first + count)]
        ends = np.minimum(CHUNK * np.arange(count + 1), len(some)) * line
        buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(some)]
        yield pa.RecordBatch.from_pydict(
            {
                "block": np.full(count, block, np.int32),
                "chunk": chunk + np.arange(first, first + count, dtype=np.int32),
                "slab": np.full(count, slab, np.int32),
                "rows": pa.Array.from_buffers(pa.binary(), count, buffers),
            }
        )


def rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, Any]]:
    """The rows of Arrow batches, lists left out; binaries are buffers and not copied."""
    for batch in batches:
        names = [field.name for field in batch.schema if not pa.types.is_list(field.type)]
        for at in range(len(batch)):
            yield {name: _value(batch[name][at]) for name in names}


def present_rows(
    rows: NDArray[np.float32], numbers: NDArray[np.int64], connected: int
) -> NDArray[np.int32]:
    """The rows that have a vector; nodes without a row of S whose sum is zero have none."""
    return np.flatnonzero((numbers < connected) | rows.any(axis=1)).astype(np.int32)


def table(ids: pa.Array, rows: NDArray[np.float32]) -> pa.Table:
    """Ids and vectors, a row a node; `ids` holds one list of all ids."""
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    vectors = pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows.reshape(-1)))
    return pa.table({"id": ids.flatten(), "embedding": vectors})


def _value(scalar: pa.Scalar) -> Any:
    return scalar.as_buffer() if isinstance(scalar, pa.BinaryScalar) else scalar.as_py()
