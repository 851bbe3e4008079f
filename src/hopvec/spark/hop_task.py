"""One hop of one slab of one block of rows, for "blocks"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import TaskContext

from hopvec import _native
from hopvec.engine.plan import SLAB_COLUMNS
from hopvec.spark.node_blocks import CHUNK_NODES, NodeBlocks
from hopvec.spark.vectors import split_chunks

WIDTH = SLAB_COLUMNS["float32"]  # columns per slab


class HopTask:
    """One hop of one slab of one block of rows."""

    def __init__(self, node_blocks: NodeBlocks, block: int, slab: int) -> None:
        self.node_blocks: NodeBlocks = node_blocks
        self.block: int = block
        self.slab: int = slab
        self._total = np.zeros((node_blocks.block_size(block), WIDTH), np.float32)
        self._degrees = np.zeros(len(self._total))
        self._column_block = -1

    def add(self, row: dict[str, Any]) -> None:
        """Add a cell, or rows of the previous order that its entries refer to."""
        if row["column_block"] != self._column_block:
            self._multiply()
            self._column_block = row["column_block"]
            self._counts = np.zeros(len(self._total), np.int32)
            self._neighbors: list[NDArray[np.int32]] = []
            self._weights: list[NDArray[np.float32]] = []
            size = self.node_blocks.block_size(self._column_block)
            self._previous = np.empty((size, WIDTH), np.float32)
        first = CHUNK_NODES * row["chunk"]
        if row["is_rows"]:
            rows = np.frombuffer(row["rows"], np.float32).reshape(-1, WIDTH)
            self._previous[first : first + len(rows)] = rows
            return
        counts = np.frombuffer(row["counts"], np.int32)
        self._counts[first : first + len(counts)] += counts
        self._neighbors.append(np.frombuffer(row["neighbors"], np.int32))
        if row["weights"] is not None:
            self._weights.append(np.frombuffer(row["weights"], np.float32))

    def finish(self) -> Iterator[pa.RecordBatch]:
        """Return the rows of the new order, as SLAB_CHUNKS."""
        self._multiply()
        degrees = self._degrees
        inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
        self._total *= inverse.astype(np.float32)[:, None]
        yield from split_chunks(self._total, block=self.block, slab=self.slab)

    def _multiply(self) -> None:
        """Add the product of the cells of a column block and its rows of the previous order."""
        if self._column_block < 0 or not self._neighbors:
            return
        indptr = np.zeros(len(self._total) + 1, np.int64)
        np.cumsum(self._counts, out=indptr[1:])
        weights = np.concatenate(self._weights) if self._weights else None
        ones = np.ones(len(self._total), np.float32)
        cells = _native.Adjacency(indptr, np.concatenate(self._neighbors), weights, ones)
        rows = np.arange(len(self._total), dtype=np.int32)
        sink = _native.Sink(sum=self._total, rows=rows, columns=WIDTH, weight=1.0, add=True)
        previous = self._previous.view(np.uint8).reshape(-1)
        threads, stop = TaskContext.get().cpus(), _native.Stop()
        _native.hop(cells, previous, False, sink, threads, stop)
        self._degrees += _native.degrees(indptr, weights)
