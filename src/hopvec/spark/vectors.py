"""Rows of vectors as Arrow data: split into chunks, and next to their ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import SparkContext
from pyspark.accumulators import AccumulatorParam
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from hopvec.formats.blocks import check_finite
from hopvec.spark.graph import StoredGraph
from hopvec.spark.node_blocks import CHUNK_NODES
from hopvec.spark.tables import CHUNK_BATCH

SLAB_CHUNKS = "block int, chunk int, slab int, rows binary"


def split_chunks(
    rows: NDArray[np.float32], *, block: int, chunk: int = 0, slab: int
) -> Iterator[pa.RecordBatch]:
    """Split rows of a slab, starting with those of `chunk`, into SLAB_CHUNKS."""
    row_bytes = rows.shape[1] * rows.itemsize
    chunks = -(-len(rows) // CHUNK_NODES)
    for first in range(0, chunks, CHUNK_BATCH):
        count = min(CHUNK_BATCH, chunks - first)
        part = rows[CHUNK_NODES * first : CHUNK_NODES * (first + count)]
        ends = np.minimum(CHUNK_NODES * np.arange(count + 1), len(part)) * row_bytes
        buffers = [None, pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(part)]
        yield pa.RecordBatch.from_pydict(
            {
                "block": np.full(count, block, np.int32),
                "chunk": chunk + np.arange(first, first + count, dtype=np.int32),
                "slab": np.full(count, slab, np.int32),
                "rows": pa.Array.from_buffers(pa.binary(), count, buffers),
            }
        )


Counts = dict[tuple[int, int], int]
"""Counts by block and chunk, so that a task that is repeated does not count twice."""


class _AddCounts(AccumulatorParam[Counts]):  # type: ignore[misc]
    def zero(self, value: Counts) -> Counts:
        return {}

    def addInPlace(self, value1: Counts, value2: Counts) -> Counts:  # noqa: N802  (inherited)
        return value1 | value2


class ZeroVectors:
    """Counts the zero vectors of nodes that have a row of A: in the tasks that make the vectors.

    Spark Connect has no SparkContext, so that the written vectors are read again.
    """

    def __init__(self, context: SparkContext | None) -> None:
        self._found = None if context is None else context.accumulator({}, _AddCounts())

    def count(
        self, rows: NDArray[np.float32], has_row: NDArray[np.bool_], block: int, chunk: int
    ) -> None:
        """Count the zero rows of a chunk of nodes."""
        if self._found is None:
            return
        zero = int(np.count_nonzero(has_row & ~rows.any(axis=1)))
        if zero:
            self._found.add({(block, chunk): zero})

    def total(self, vectors: DataFrame, graph: StoredGraph) -> int:
        """The number of zero vectors, once the tasks have run and `vectors` are written."""
        if self._found is not None:
            return sum(self._found.value.values())
        zero = vectors.where(~F.exists("embedding", lambda entry: entry != 0))
        nodes = graph.indexed_nodes().where("connected")
        connected = zero.join(nodes, "id", "left_semi")
        return int(graph.tables.run("count zero vectors", connected.count))


def rows_with_vector(rows: NDArray[np.float32], has_row: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The rows that have a vector: all but zero rows of nodes without a row of A."""
    return np.flatnonzero(has_row | rows.any(axis=1)).astype(np.int32)


def integers(batches: Iterable[pa.RecordBatch]) -> Iterator[int]:
    """Iterate over the integers of a Spark range."""
    for batch in batches:
        yield from batch["id"].to_pylist()


def vector_columns(ids: str) -> str:
    """The schema of `vector_table`, for ids of this type."""
    return f"id {ids}, embedding array<float>"


def vector_table(ids: pa.Array, rows: NDArray[np.float32]) -> pa.Table:
    """Ids and vectors, one row per node; `ids` holds a single list with all ids.

    Raises FormatError for a vector that is not finite.
    """
    ids = ids.flatten()
    check_finite(rows, ids)
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    vectors = pa.ListArray.from_arrays(pa.array(offsets), pa.array(rows.reshape(-1)))
    return pa.table({"id": ids, "embedding": vectors})
