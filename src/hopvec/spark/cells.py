"""Cells: the entries of A for every part of the columns, by their indices in the internal order.

A half edge only knows the key of its other end. So each bucket sends the indices of its nodes to
the buckets of their neighbors, which know the indices of the rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import DataFrame

from hopvec import _native
from hopvec.spark.buckets import NODE_ROWS, Part, bucket_of, by_group
from hopvec.spark.node_blocks import CHUNK_NODES, InternalOrder, NodeBlocks
from hopvec.spark.packed import concatenated, iter_rows, pack_slices, unpack

NEIGHBORS = "bucket int, part int, incoming boolean, keys binary, indices binary, weights binary"
"""Entries on the way to the bucket of their row: its key, and the index of the neighbor."""
ENTRIES = "cell_range bigint, part int, entries binary, weights binary"
"""Entries on the way to their cell range: one range of rows of one cell."""
CELLS = (
    "part int, row_block int, column_block int, chunk int, first_position int, "
    "first_neighbor int, counts binary, neighbors binary, weights binary"
)
CELL_ENTRIES = 1 << 20  # that are sorted and packed together; a larger cell has several ranges


@dataclass(frozen=True)
class CellWriter:
    """The work of the tasks that make cells, and the data that they need."""

    node_blocks: NodeBlocks
    order: InternalOrder
    parts: tuple[Part, ...]
    directed: tuple[bool, ...]
    """Whether each matrix has incoming half edges."""
    weighted: bool
    """Whether the merged graph has weights."""
    buckets: int

    def cells(self, rows: DataFrame) -> DataFrame:
        """CELLS from BUCKETS."""
        sent = rows.mapInArrow(self.send, NEIGHBORS)
        entries = sent.groupBy("bucket").applyInArrow(lambda table: self.resolve(table), ENTRIES)
        return entries.groupBy("cell_range").applyInArrow(lambda table: self.pack(table), CELLS)

    @cached_property
    def row_bounds(self) -> NDArray[np.int64]:
        """The first indices of all ranges of rows but the first."""
        return self.order.row_bounds(CELL_ENTRIES * self.node_blocks.blocks**2)

    def send(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Send the index of each node along its half edges, and to its own bucket: NEIGHBORS."""
        bucket, indices = -1, np.empty(0, np.int32)
        for row in iter_rows(batches):
            if row["bucket"] != bucket:
                bucket = row["bucket"]
                indices = self.order.indices(bucket, unpack(row["codes"], np.int64))
            if row["matrix"] == NODE_ROWS:
                keys = unpack(row["keys"], np.int64)
                yield self._neighbors(NODE_ROWS, keys, indices, None, incoming=False)
                continue
            directed = self.directed[row["matrix"]]
            for number, part in enumerate(self.parts):
                direction, incoming = part.direction, row["incoming"]
                sends = not directed or direction == "both" or incoming == (direction == "out")
                if part.matrix == row["matrix"] and sends:
                    owners = indices[unpack(row["owners"], np.int32)]
                    others = unpack(row["others"], np.int64)
                    weights = self._weights(row, len(owners))
                    yield self._neighbors(number, others, owners, weights, incoming=incoming)

    def _weights(self, row: dict[str, Any], count: int) -> NDArray[np.float32] | None:
        if row["weights"] is not None:
            return unpack(row["weights"], np.float32)
        return np.ones(count, np.float32) if self.weighted or row["matrix"] else None

    def _neighbors(
        self,
        part: int,
        keys: NDArray[np.int64],
        indices: NDArray[np.int32],
        weights: NDArray[np.float32] | None,
        *,
        incoming: bool,
    ) -> pa.RecordBatch:
        order, found, bounds = by_group(bucket_of(keys, self.buckets), self.buckets)
        return pa.RecordBatch.from_pydict(
            {
                "bucket": found.astype(np.int32),
                "part": np.full(len(found), part, np.int32),
                "incoming": pa.array([incoming] * len(found), pa.bool_()),
                "keys": pack_slices(keys[order], bounds),
                "indices": pack_slices(indices[order], bounds),
                "weights": pack_slices(None if weights is None else weights[order], bounds),
            }
        )

    def resolve(self, table: pa.Table) -> pa.Table:
        """The entries of the rows of a bucket, by cell ranges: ENTRIES from NEIGHBORS."""
        rows = list(iter_rows(table.to_batches()))
        nodes = _native.IntegerDictionary(1)
        own = [row for row in rows if row["part"] == NODE_ROWS]
        nodes.encode(concatenated([row["keys"] for row in own], np.int64))
        indices = concatenated([row["indices"] for row in own], np.int32)
        batches = [self._entries(some, nodes, indices) for some in _batches(rows)]
        none = pa.RecordBatch.from_pydict(
            {
                "cell_range": pa.array([], pa.int64()),
                "part": pa.array([], pa.int32()),
                **{name: pa.array([], pa.binary()) for name in ("entries", "weights")},
            }
        )
        return pa.Table.from_batches([none, *batches])

    def _entries(
        self,
        rows: list[dict[str, Any]],
        nodes: _native.IntegerDictionary,
        indices: NDArray[np.int32],
    ) -> pa.RecordBatch:
        number, blocks = rows[0]["part"], self.node_blocks
        row = indices[nodes.encode(concatenated([some["keys"] for some in rows], np.int64))]
        column = concatenated([some["indices"] for some in rows], np.int32)
        weights = None
        if rows[0]["weights"] is not None:
            weights = concatenated([some["weights"] for some in rows], np.float32)
        if self.parts[number].direction == "both" and rows[0]["incoming"]:
            others = np.flatnonzero(row != column)  # a loop counts once
            row, column = row[others], column[others]
            weights = None if weights is None else weights[others]
        cell = blocks.cell(row, column)
        ranges = len(self.row_bounds) + 1
        cell_range = cell * ranges + np.searchsorted(self.row_bounds, row, side="right")
        order, found, bounds = by_group(cell_range, blocks.blocks**2 * ranges)
        entries = blocks.entry(row, column)[order]
        return pa.RecordBatch.from_pydict(
            {
                "cell_range": number * blocks.blocks**2 * ranges + found.astype(np.int64),
                "part": np.full(len(found), number, np.int32),
                "entries": pack_slices(entries, bounds),
                "weights": pack_slices(None if weights is None else weights[order], bounds),
            }
        )

    def pack(self, table: pa.Table) -> pa.Table:
        """CELLS of a cell range from its ENTRIES."""
        rows = list(iter_rows(table.to_batches()))
        entries, weights = concatenated([row["entries"] for row in rows], np.int64), None
        if rows[0]["weights"] is not None:
            weights = concatenated([row["weights"] for row in rows], np.float32)
            order = np.lexsort((weights, entries))
            entries, weights = entries[order], weights[order]
        else:
            entries.sort()
        return pack_cells(rows[0]["part"], entries, weights, self.node_blocks)


def _batches(rows: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Group NEIGHBORS of the same part and kind, up to CELL_ENTRIES entries."""
    some: list[dict[str, Any]] = []
    size = 0
    rows = [row for row in rows if row["part"] != NODE_ROWS]
    for row in sorted(rows, key=lambda row: (row["part"], row["incoming"])):
        kind = row["part"], row["incoming"]
        if some and (size > 4 * CELL_ENTRIES or kind != (some[0]["part"], some[0]["incoming"])):
            yield some
            some, size = [], 0
        some.append(row)
        size += row["indices"].size
    if some:
        yield some


def pack_cells(
    part: int,
    entries: NDArray[np.int64],
    weights: NDArray[np.float32] | None,
    node_blocks: NodeBlocks,
) -> pa.Table:
    """Pack ascending entries into CELLS; the first and last can be incomplete."""
    row_block, column_block, position, neighbor = node_blocks.split_entries(entries)
    cells = np.stack([row_block, column_block, position // CHUNK_NODES])
    starts = np.flatnonzero(np.append(True, np.any(cells[:, 1:] != cells[:, :-1], axis=0)))
    ends = [*starts[1:].tolist(), len(entries)]
    counts = [
        np.bincount(
            position[first:last] - CHUNK_NODES * chunk,
            minlength=node_blocks.chunk_size(block, chunk),
        )
        for first, last, (block, _, chunk) in zip(starts, ends, cells[:, starts].T, strict=True)
    ]
    integers = np.vstack([cells[:, starts], position[starts], neighbor[starts]]).astype(np.int32)
    names = ("row_block", "column_block", "chunk", "first_position", "first_neighbor")
    bounds = [*starts.tolist(), len(entries)]
    return pa.table(
        {
            "part": np.full(len(starts), part, np.int32),
            **dict(zip(names, integers, strict=True)),
            "counts": pa.array([count.astype(np.int32).tobytes() for count in counts], pa.binary()),
            "neighbors": pack_slices(neighbor.astype(np.int32), bounds),
            "weights": pack_slices(weights, bounds),
        }
    )
