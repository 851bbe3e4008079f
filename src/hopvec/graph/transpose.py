"""The transpose and the symmetrized form of a directed graph's adjacency matrix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.graph.csr_builder import CHUNK, CSRBuilder
from hopvec.graph.entries import entry_chunks
from hopvec.graph.graph import Graph

Direction = Literal["out", "in", "both"]
"""Which edges to follow: "out" is S, "in" is S^T, "both" takes every edge as undirected."""

BYTES_PER_NODE = 128  # memory to use for a graph whose rows are in a file


@dataclass(frozen=True, eq=False)
class TransposedCSR:
    """The adjacency matrix in another direction than S, in CSR format and internal order."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    """Neighbors, ascending in each row. A neighbor may occur twice."""
    weights: NDArray[np.float32] | None
    symmetric: bool

    @property
    def _mapped(self) -> bool:
        """Whether indices and weights are in a file."""
        return machine.file_map(self.indices) is not None

    @cached_property
    def _node_degrees(self) -> NDArray[np.float64]:
        """The sum of each row."""
        return _native.degrees(self.indptr, self.weights, self._mapped)


def transposed_csr(
    graph: Graph,
    direction: Direction,
    threads: int,
    like: Graph | None = None,
    spill_dir: str | PathLike[str] | None = None,
) -> TransposedCSR:
    """Return the adjacency matrix of a graph in a direction.

    It is in the internal order of the graph, or in that of `like`, a graph with the same ids. If
    the rows of the graph are in a file, so is the result, in `spill_dir`. Takes linear time, except
    for sorting within each row.
    """
    symmetric = direction == "both"
    builder = CSRBuilder(
        nodes=graph.nodes,
        directed=not symmetric,
        duplicates="sum",
        drop_loops=False,
        threads=threads,
        memory_limit=max(8 << 20, BYTES_PER_NODE * graph.nodes) if graph._mapped else None,
        spill_dir=spill_dir,
    )
    edges = _EntriesAsEdges(graph, direction == "in", like)
    csr = machine.interruptible(partial(builder.sort_edges, edges))
    return TransposedCSR(*csr, symmetric=symmetric)


def transposed_graph(graph: Graph, direction: Direction) -> Graph:
    """Return the graph in a direction, with its ids and features; an undirected one as it is."""
    if direction == "out" or not graph.directed:
        return graph
    import scipy.sparse as sp

    matrix = graph.to_scipy()
    if direction == "in":
        transposed = Graph.from_scipy(matrix.T, ids=graph.ids, directed=True)
    else:
        loops = sp.diags_array(matrix.diagonal())  # equal in both directions, but counted once
        transposed = Graph.from_scipy(matrix + matrix.T - loops, ids=graph.ids)
    return replace(transposed, features=graph.features)


def has_in_edges(graph: Graph) -> NDArray[np.bool_]:
    """Mask of the nodes that some edge points to, in the graph's internal order."""
    mask = np.zeros(graph.nodes, dtype=bool)
    for first in range(0, graph.entries, CHUNK):
        chunk = graph.indices[first : first + CHUNK]
        mask[chunk] = True
        machine.release_pages(chunk)
    return mask


class _EntriesAsEdges:
    """The entries of S as an EdgeSource, with source and target swapped if `reverse`."""

    def __init__(self, graph: Graph, reverse: bool, like: Graph | None) -> None:
        self._graph, self._reverse, self.weight = graph, reverse, graph.weights
        self._table: NDArray[np.int32] | None = None
        if like is not None:
            number = np.empty(graph.nodes, dtype=np.int32)
            number[like.rows] = np.arange(graph.nodes, dtype=np.int32)
            self._table = number[graph.rows]

    def __len__(self) -> int:
        return len(self._graph.indices)

    def chunks(self, size: int, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """See EdgeSource."""
        for row, neighbor, weight in entry_chunks(self._graph, size):
            source, target = (neighbor, row) if self._reverse else (row, neighbor)
            yield _native.Edges(source, target, weight, 0, self._table, directed, drop_loops)
