"""The rows of a directed graph turned: along its edges the other way, or both ways."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.graph.csr_builder import CHUNK, Build
from hopvec.graph.graph import Graph

Turn = Literal["out", "in", "both"]
"""Rows as they are, those of S^T, or those of S with every edge taken as an undirected one."""

ROOM = 128  # bytes a node that the turning may take, where the rows lie in a file


@dataclass(frozen=True, eq=False)
class TransposedCSR:
    """Other rows than those of S, in the graph's internal order."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    """Neighbors, ascending in each row; one may come twice."""
    weights: NDArray[np.float32] | None
    symmetric: bool

    @property
    def mapped(self) -> bool:
        """Whether indices and weights lie in a file."""
        return machine.file_map(self.indices) is not None

    @cached_property
    def node_degrees(self) -> NDArray[np.float64]:
        """The sums of the rows."""
        return _native.degrees(self.indptr, self.weights, self.mapped)


def transposed_csr(
    graph: Graph, turn: Turn, threads: int, like: Graph | None = None
) -> TransposedCSR:
    """The rows of a graph turned.

    They are in the numbering of the graph, or in that of another with the same ids. Where the rows
    of the graph lie in a file, so do these. Linear but for the sorting of each row.
    """
    both = turn == "both"
    build = Build(
        nodes=graph.nodes,
        directed=not both,
        duplicates="sum",
        drop_loops=False,
        threads=threads,
        room=max(8 << 20, ROOM * graph.nodes) if graph.mapped else None,
    )
    draft = machine.interruptible(partial(build.draft, _Entries(graph, turn == "in", like)))
    entries = draft.entries
    weights = None if entries.weight is None else entries.weight.array
    return TransposedCSR(draft.start, entries.neighbor.array, weights, symmetric=both)


def transposed_graph(graph: Graph, turn: Turn) -> Graph:
    """A graph turned, with its ids and features; itself where it is undirected."""
    if turn == "out" or not graph.directed:
        return graph
    import scipy.sparse as sp

    rows = graph.to_scipy()
    if turn == "in":
        turned = Graph.from_scipy(rows.T, ids=graph.ids, directed=True)
    else:
        loops = sp.diags_array(rows.diagonal())  # which are the same both ways, and count once
        turned = Graph.from_scipy(rows + rows.T - loops, ids=graph.ids)
    return replace(turned, features=graph.features)


def has_in_edges(graph: Graph) -> NDArray[np.bool_]:
    """Whether an edge leads to a node, in the graph's internal order."""
    entered = np.zeros(graph.nodes, dtype=bool)
    for first in range(0, graph.entries, CHUNK):
        some = graph.indices[first : first + CHUNK]
        entered[some] = True
        machine.forget(some)
    return entered


class _Entries:
    """The entries of a graph as edges, a chunk at a time; the other way round, if asked for."""

    def __init__(self, graph: Graph, reverse: bool, like: Graph | None) -> None:
        self._graph, self._reverse, self.weight = graph, reverse, graph.weights
        self._table: NDArray[np.int32] | None = None
        if like is not None:
            number = np.empty(graph.nodes, dtype=np.int32)
            number[like.rows] = np.arange(graph.nodes, dtype=np.int32)
            self._table = number[graph.rows]

    def __len__(self) -> int:
        return len(self._graph.indices)

    def chunks(self, *, directed: bool, drop_loops: bool) -> Iterator[_native.Edges]:
        """All of them, as `EdgeList.chunks` gives them."""
        graph, first = self._graph, 0
        while graph.indptr[first] < graph.entries:
            last = int(np.searchsorted(graph.indptr, graph.indptr[first] + CHUNK, side="right")) - 1
            last = min(max(last, first + 1), graph.nodes)
            entries = slice(graph.indptr[first], graph.indptr[last])
            row = np.arange(first, last, dtype=np.int32)
            row = np.repeat(row, np.diff(graph.indptr[first : last + 1]))
            neighbor, weight = graph.indices[entries], self.weight
            some = None if weight is None else weight[entries]
            source, target = (neighbor, row) if self._reverse else (row, neighbor)
            yield _native.Edges(source, target, some, 0, self._table, directed, drop_loops)
            for part in (neighbor, some):
                if part is not None:
                    machine.forget(part)
            first = last
