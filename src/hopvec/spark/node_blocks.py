"""The internal order of the nodes, and their assignment to blocks and chunks.

Node i of the internal order is in block i % blocks, at position i // blocks. A chunk is CHUNK_NODES
consecutive positions of a block; a cell holds the entries of A in the rows of a chunk and the
columns of a block.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.spark.buckets import NO_ROW, BucketStatistics

CHUNK_NODES = 4096  # nodes whose rows are stored together


@dataclass(frozen=True)
class NodeBlocks:
    """The assignment of nodes to blocks and chunks."""

    nodes: int
    blocks: int = 1

    def block_size(self, block: int) -> int:
        """The number of nodes in a block."""
        return (self.nodes - block + self.blocks - 1) // self.blocks

    def chunks(self, block: int) -> int:
        """The number of chunks in a block."""
        return -(-self.block_size(block) // CHUNK_NODES)

    def chunk_size(self, block: int, chunk: int) -> int:
        """The number of nodes in a chunk."""
        return min(CHUNK_NODES, self.block_size(block) - CHUNK_NODES * chunk)

    def node_indices(self, block: int, chunk: int) -> NDArray[np.int64]:
        """The indices of the nodes in a chunk, in the internal order."""
        positions = CHUNK_NODES * chunk + np.arange(self.chunk_size(block, chunk))
        return positions * self.blocks + block

    def cell(self, row: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int64]:
        """The number of the cell of entries, without its chunk."""
        cells: NDArray[np.int64] = (row % self.blocks).astype(np.int64)
        cells *= self.blocks
        cells += column % self.blocks
        return cells

    def entry(self, row: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int64]:
        """Entries as integers; ascending integers follow the order of the cells."""
        size, rows = self.block_size(0), self.cell(row, column)
        rows *= size
        rows += row // self.blocks
        rows *= size
        rows += column // self.blocks
        return rows

    def split_entries(self, entries: NDArray[np.int64]) -> tuple[NDArray[np.int64], ...]:
        """The row block, column block, position and neighbor of each entry."""
        rows, neighbor = np.divmod(entries, self.block_size(0))
        cell, position = np.divmod(rows, self.block_size(0))
        return *np.divmod(cell, self.blocks), position, neighbor


@dataclass(frozen=True)
class InternalOrder:
    """Where the nodes of each bucket are in the internal order, by their codes.

    Nodes are sorted by their code: most entries first, no row last. Ties are sorted by key, and so
    by bucket.
    """

    starts: Mapping[int, tuple[NDArray[np.int64], NDArray[np.int64]]]
    """By bucket: its codes, and the index of its first node with each."""
    codes: NDArray[np.int64]
    """All codes, ascending."""
    counts: NDArray[np.int64]
    """The number of nodes with each code."""

    @classmethod
    def of(cls, buckets: Sequence[BucketStatistics]) -> InternalOrder:
        """The internal order of the nodes of all buckets."""
        bucket = np.repeat([one.bucket for one in buckets], [len(one.codes) for one in buckets])
        codes = np.concatenate([one.codes for one in buckets])
        counts = np.concatenate([one.counts for one in buckets])
        order = np.lexsort((bucket, codes))
        starts = np.empty(len(codes), np.int64)
        starts[order] = np.cumsum(counts[order]) - counts[order]
        found = np.split(starts, np.cumsum([len(one.codes) for one in buckets])[:-1])
        distinct, group = np.unique(codes, return_inverse=True)
        return cls(
            {one.bucket: (one.codes, some) for one, some in zip(buckets, found, strict=True)},
            distinct,
            np.bincount(group, counts).astype(np.int64),
        )

    def indices(self, bucket: int, codes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The indices of the nodes of a bucket, given their codes in the order of their keys."""
        known, starts = self.starts[bucket]
        code = np.searchsorted(known, codes)
        order = np.argsort(code, kind="stable")
        counts = np.bincount(code, minlength=len(known))
        first = np.repeat(starts - (np.cumsum(counts) - counts), counts)
        indices = np.empty(len(codes), np.int32)
        indices[order] = first + np.arange(len(codes))
        return indices

    def row_bounds(self, entries: int) -> NDArray[np.int64]:
        """Indices that split the rows into ranges of up to so many entries, or single rows."""
        per_row = np.where(self.codes < 0, -self.codes, NO_ROW - self.codes)
        ends = np.cumsum(per_row * self.counts)
        before = ends - per_row * self.counts
        targets = np.arange(1, 1 + int(ends[-1]) // entries, dtype=np.int64) * entries
        code = np.minimum(np.searchsorted(ends, targets), len(ends) - 1)
        first = np.cumsum(self.counts) - self.counts
        return np.unique(first[code] + (targets - before[code]) // np.maximum(1, per_row[code]))
