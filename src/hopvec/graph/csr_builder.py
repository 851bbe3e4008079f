"""CSRBuilder: the adjacency matrix S in CSR format from edges, in memory or in spill files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from os import PathLike
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.errors import GraphError
from hopvec.machine import release_pages
from hopvec.progress import Progress, no_progress
from hopvec.spill import SpillArray

CHUNK = 1 << 20  # edges, entries or nodes processed at a time if not all of them fit in memory
PLACING = 0.75  # share of the time of `place_edges`; counting neighbors takes the rest
MAX_EDGES, MAX_ENTRIES = 1 << 22, 1 << 24  # of a chunk
BYTES_PER_ENTRY = 24  # of a chunk, in the buckets: row, column and weight, twice
BUILDER_NODE_BYTES = 48  # held for each node: positions, counts, keys, orders and their inverse
MIN_LIMIT = 8 << 20  # the smallest memory limit that plans choose

Block = tuple[NDArray[np.int32], NDArray[np.float32] | None]
"""The indices and weights of a range of rows."""


class EdgeSource(Protocol):
    """Edges between numbered nodes, which can be iterated over more than once."""

    @property
    def weight(self) -> NDArray[np.float32] | None:
        """The weights, or None for an unweighted graph."""

    def __len__(self) -> int: ...

    def chunks(self, size: int, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """Yield all edges in chunks of at most `size`, in the form that the kernels take."""


@dataclass(frozen=True)
class EdgeList:
    """Edges as arrays of ids. The number of a node is table[id - offset], or id - offset.

    If the arrays are memory maps, each chunk's pages are freed.
    """

    source: NDArray[Any]
    target: NDArray[Any]
    weight: NDArray[np.float32] | None
    offset: int = 0
    table: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def chunks(self, size: int, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """See EdgeSource."""
        for first in range(0, len(self), size):
            source, target = self.source[first : first + size], self.target[first : first + size]
            weight = None if self.weight is None else self.weight[first : first + size]
            yield _native.Edges(
                source, target, weight, self.offset, self.table, directed, drop_loops
            )
            for array in (source, target, weight):
                if array is not None:
                    release_pages(array)


@dataclass(frozen=True)
class CSR:
    """S in CSR format, in the graph's internal order."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    order: NDArray[np.int32]
    """[nodes]: the number that each node had in the edges."""


@dataclass
class UnmergedCSR:
    """Rows in the numbering and the order of the edges. Repeated entries are not yet merged."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weights: NDArray[np.float32] | None
    row_counts: NDArray[np.int32]
    """[nodes]: the number of distinct entries in each row."""
    column_counts: NDArray[np.int32] | None
    """[nodes]: the same for each column; None if the graph is undirected."""
    loops: int
    zero_weights: int
    duplicates: int
    """The number of edges that repeat an earlier one."""

    def chunks(self, max_entries: int) -> Iterator[tuple[int, int, Block]]:
        """Yield (first row, end row, entries) of all rows, in chunks if they are in a file."""
        chunked = isinstance(self.indices, np.memmap)
        for first, end in row_ranges(self.indptr, max_entries if chunked else None):
            entries = slice(self.indptr[first], self.indptr[end])
            indices = self.indices[entries]
            weights = None if self.weights is None else self.weights[entries]
            yield first, end, (indices, weights)
            release_pages(indices)
            if weights is not None:
                release_pages(weights)

    def release_counts(self) -> None:
        """Frees the counts, which are needed only to order the nodes."""
        self.row_counts, self.column_counts = np.empty(0, dtype=np.int32), None

    def release_entries(self) -> None:
        """Frees the rows, no matter who else holds a reference to this object."""
        self.indptr, self.indices = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
        self.weights = None


@dataclass
class CSRBuilder:
    """Builds the CSR arrays of a graph in two steps.

    `place_edges` is a stable counting sort by row. `merge` numbers the nodes in the graph's
    internal order and writes the rows again in that order: sorted, repeated entries merged. If
    `memory_limit` is given, each step iterates over its input once for every range of rows that
    fits in memory, and writes these ranges to spill files.
    """

    nodes: int
    directed: bool
    duplicates: str
    drop_loops: bool
    threads: int
    memory_limit: int | None
    """Bytes of entries to hold in memory at a time; None if both copies of the rows fit."""
    in_file: bool = False
    """Whether to write the result to spill files even if it fits in memory."""
    spill_dir: str | PathLike[str] | None = None
    progress: Progress = no_progress
    """Called with the percentage of the work that is done, and 100."""

    def place_edges(self, edges: EdgeSource, stop: _native.Stop) -> UnmergedCSR:
        """Group the edges by row. They are no longer needed after that."""
        buckets = _native.EntryBuckets(self.nodes)
        indptr, loops, zero_weights = self._count(edges, buckets, stop)
        row_counts = np.empty(self.nodes, dtype=np.int32)
        column_counts = np.zeros(self.nodes, dtype=np.int32) if self.directed else None
        duplicates = 0

        def count_distinct(first: int, end: int, block: Block) -> None:
            nonlocal duplicates
            duplicates += _native.count_distinct(
                indptr, first, end, block[0], row_counts, column_counts, self.threads, stop
            )

        indices, weights = self._place(edges, buckets, indptr, count_distinct, stop)
        return UnmergedCSR(
            indptr, indices, weights, row_counts, column_counts, loops, zero_weights, duplicates
        )

    def sort_edges(
        self, edges: EdgeSource, stop: _native.Stop
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float32] | None]:
        """Sort the edges by row, column and weight, without merging them or numbering the nodes.

        Returns indptr, indices and weights.
        """
        buckets = _native.EntryBuckets(self.nodes)
        indptr, _, _ = self._count(edges, buckets, stop)

        def sort_rows(first: int, end: int, block: Block) -> None:
            _native.sort_rows(indptr, first, end, *block, self.threads, stop)

        return indptr, *self._place(edges, buckets, indptr, sort_rows, stop)

    def merge(
        self, unmerged: UnmergedCSR, keys: Callable[[], NDArray[np.uint64]], stop: _native.Stop
    ) -> CSR:
        """Merge repeated entries, and put the nodes in the graph's internal order.

        Frees the arrays of `unmerged`. `keys` computes the keys of the nodes, which are needed
        only for a moment.
        """
        order = _native.order_nodes(
            unmerged.row_counts, unmerged.column_counts, keys(), self.threads, stop
        )
        raise_if_stopped(stop)
        indptr, number = self._number_nodes(order, unmerged.row_counts)
        del order
        unmerged.release_counts()
        sums = unmerged.duplicates > 0 and self.duplicates == "sum"
        weighted = sums or unmerged.weights is not None
        all_one = True
        chunk_entries = min(max((self.memory_limit or 0) // 128, 1 << 10), MAX_ENTRIES)
        ranges = self._row_ranges(indptr, weighted, 8 * chunk_entries)

        def merged_blocks() -> Iterator[Block]:
            nonlocal all_one
            for first, end in ranges:
                indices, weights = _empty_block(indptr, first, end, weighted)
                chunks = unmerged.chunks(chunk_entries)
                for chunk_first, chunk_end, (from_indices, from_weights) in chunks:
                    all_one &= _native.merge_and_renumber(
                        unmerged.indptr[chunk_first : chunk_end + 1],
                        from_indices,
                        from_weights,
                        chunk_first,
                        number,
                        indptr,
                        first,
                        end,
                        self.duplicates == "sum",
                        indices,
                        weights,
                        self.threads,
                        stop,
                    )
                    raise_if_stopped(stop)
                    self._report((50, 100), first, end, chunk_end / self.nodes)
                yield indices, weights
                del indices, weights

        in_memory = len(ranges) == 1 and not self.in_file
        indices, weights = self._concatenate(merged_blocks(), weighted, in_memory=in_memory)
        unmerged.release_entries()
        return CSR(indptr, indices, None if all_one else weights, self._inverse(number))

    def _place(
        self,
        edges: EdgeSource,
        buckets: _native.EntryBuckets,
        indptr: NDArray[np.int64],
        finish: Callable[[int, int, Block], None],
        stop: _native.Stop,
    ) -> Block:
        """The entries of all rows in the order of the edges, after finish(first, end, entries)."""
        weighted = edges.weight is not None
        reserved = bucket_bytes(self._chunk_size(edges), directed=self.directed)

        def placed_blocks() -> Iterator[Block]:
            for first, end in self._row_ranges(indptr, weighted, reserved):
                indices, weights = _empty_block(indptr, first, end, weighted)
                cursor = indptr[first:end] - indptr[first]
                placed = 0
                for chunk in self._chunks(edges):
                    buckets.place(chunk, first, cursor, indices, weights, self.threads, stop)
                    raise_if_stopped(stop)
                    placed += len(chunk)
                    self._report((10, 50), first, end, PLACING * placed / max(1, len(edges)))
                del cursor
                finish(first, end, (indices, weights))
                raise_if_stopped(stop)
                yield indices, weights
                del indices, weights
                self._report((10, 50), first, end, 1)

        in_memory = self.memory_limit is None
        return self._concatenate(placed_blocks(), weighted, in_memory=in_memory)

    def _concatenate(self, blocks: Iterator[Block], weighted: bool, *, in_memory: bool) -> Block:
        """The entries of all rows: the only block itself, or a memory map of all blocks."""
        if in_memory:
            (block,) = blocks
            return block
        indices = SpillArray(np.int32, memory_limit=0, directory=self.spill_dir)
        weights = SpillArray(np.float32, memory_limit=0, directory=self.spill_dir)
        for some_indices, some_weights in blocks:
            indices.append(some_indices)
            if some_weights is not None:
                weights.append(some_weights)
            del some_indices, some_weights  # before the next block is computed
        return indices.array(), weights.array() if weighted else None

    def _count(
        self, edges: EdgeSource, buckets: _native.EntryBuckets, stop: _native.Stop
    ) -> tuple[NDArray[np.int64], int, int]:
        """Count the entries of each row, as indptr, and the loops and edges of weight 0."""
        indptr = np.zeros(self.nodes + 1, dtype=np.int64)
        loops = zero_weights = counted = 0
        for chunk in self._chunks(edges):
            chunk_loops, chunk_zeros = buckets.count(chunk, indptr[1:], self.threads, stop)
            loops, zero_weights = loops + chunk_loops, zero_weights + chunk_zeros
            raise_if_stopped(stop)
            counted += len(chunk)
            self._report((0, 10), 0, self.nodes, counted / max(1, len(edges)))
        np.cumsum(indptr, out=indptr)
        return indptr, loops, zero_weights

    def _report(self, percents: tuple[int, int], first: int, end: int, share: float) -> None:
        """Report that all rows before `first` are done, and a share of those before `end`."""
        low, high = percents
        done = (first + (end - first) * share) / self.nodes
        self.progress(low + int((high - low) * done), 100)

    def _number_nodes(
        self, order: NDArray[np.int32], row_counts: NDArray[np.int32]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The indptr of the rows in the given order, and the new number of each node."""
        indptr = np.zeros(self.nodes + 1, dtype=np.int64)
        for first in range(0, self.nodes, CHUNK):
            chunk = slice(first + 1, min(first + CHUNK, self.nodes) + 1)
            np.cumsum(row_counts[order[first : first + CHUNK]], out=indptr[chunk])
            indptr[chunk] += indptr[first]
        return indptr, self._inverse(order)

    def _inverse(self, order: NDArray[np.int32]) -> NDArray[np.int32]:
        inverse = np.empty(self.nodes, dtype=np.int32)
        for first in range(0, self.nodes, CHUNK):
            end = min(first + CHUNK, self.nodes)
            inverse[order[first:end]] = np.arange(first, end, dtype=np.int32)
        return inverse

    def _chunks(self, edges: EdgeSource) -> Iterator[_native.Edges]:
        size = self._chunk_size(edges)
        return edges.chunks(size, directed=self.directed, drop_loops=self.drop_loops)

    def _chunk_size(self, edges: EdgeSource) -> int:
        """The edges of a chunk; the buckets take at most a quarter of the memory limit."""
        size = chunk_edges(len(edges))
        if self.memory_limit is not None:
            per_edge = bucket_bytes(1, directed=self.directed)
            size = min(size, max(1 << 10, self.memory_limit // 4 // per_edge))
        return size

    def _row_ranges(
        self, indptr: NDArray[np.int64], weighted: bool, reserved: int
    ) -> list[tuple[int, int]]:
        """Ranges of rows that fit in the memory limit beside some reserved bytes."""
        max_entries = None
        if self.memory_limit is not None:
            max_entries = max(1, (self.memory_limit - reserved) // (8 if weighted else 4))
        return list(row_ranges(indptr, max_entries))


def in_memory_build_bytes(entries: int, unmerged: int, merged: int, *, directed: bool) -> int:
    """The memory of the entries of a builder without a limit: two copies, or one and buckets."""
    edges = entries if directed else -(-entries // 2)
    return unmerged + max(merged, bucket_bytes(chunk_edges(edges), directed=directed))


def chunk_edges(edges: int) -> int:
    """The edges of a chunk without a memory limit.

    The buckets then take at most half the size of the rows of a large graph, before there is a
    second copy of them.
    """
    return min(max(edges // 16, 1 << 14), MAX_EDGES)


def bucket_bytes(edges: int, *, directed: bool) -> int:
    """The memory of the buckets for a chunk of edges."""
    return edges * BYTES_PER_ENTRY * (1 if directed else 2)


def min_limit_for_one_block(merged: int) -> int:
    """The minimum memory limit with which the merged rows are one block, beside a chunk."""
    return max(MIN_LIMIT, merged * 16 // 15 + (1 << 14))


def row_ranges(indptr: NDArray[np.int64], max_entries: int | None) -> Iterator[tuple[int, int]]:
    """Yield ranges [first, end) of rows with at most `max_entries` entries; never split a row."""
    rows = len(indptr) - 1
    first = 0
    while first < rows:
        end = rows
        if max_entries is not None:
            end = int(np.searchsorted(indptr, indptr[first] + max_entries, side="right")) - 1
            end = min(max(end, first + 1), rows)
        yield first, end
        first = end


def raise_if_stopped(stop: _native.Stop) -> None:
    """Raise GraphError if the caller was interrupted and no longer waits for the result."""
    if stop.stopped:
        raise GraphError("Building the graph was interrupted.")


def _empty_block(indptr: NDArray[np.int64], first: int, end: int, weighted: bool) -> Block:
    size = int(indptr[end] - indptr[first])
    return np.empty(size, dtype=np.int32), np.empty(size, dtype=np.float32) if weighted else None
