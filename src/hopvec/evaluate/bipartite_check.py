"""Bipartite graphs: whether the nodes fall into two sides that edges only lead between."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.evaluate.pairs import Pairs
from hopvec.graph import Graph


def check_bipartite(owner: str, graph: Graph) -> None:
    """Raises GraphError naming an edge that closes a cycle of odd length. Linear."""
    _refuse_directed(owner, graph)
    odd = _odd_nodes(graph)
    if len(odd):
        raise _not_bipartite(
            owner, graph, _odd_edge(graph, int(odd[0])), "closes a cycle of odd length"
        )


def item_mask(owner: str, graph: Graph, items: Any) -> NDArray[np.bool_]:
    """Which nodes are items, by a list of their ids.

    Raises GraphError naming an edge between two items, or between two others. Linear.
    """
    _refuse_directed(owner, graph)
    is_item = np.zeros(graph.nodes, dtype=bool)
    is_item[Pairs(graph).find(items)] = True
    source = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    inside = np.flatnonzero(is_item[source] == is_item[graph.indices])
    if len(inside):
        edge = int(source[inside[0]]), int(graph.indices[inside[0]])
        what = "two items" if is_item[edge[0]] else "two nodes that are not among the items"
        raise _not_bipartite(owner, graph, edge, f"joins {what}")
    return is_item


def _odd_nodes(graph: Graph) -> NDArray[np.int64]:
    """The nodes of components that have a cycle of odd length.

    In a graph of two copies of every node, where an edge leads from either end to the other copy of
    the other end, a walk of odd length back to a node is a way from one copy to the other.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    nodes = graph.nodes
    indptr = np.concatenate([graph.indptr, graph.indptr[1:] + graph.entries])
    indices = np.concatenate([graph.indices + nodes, graph.indices])
    ones = np.ones(len(indices), dtype=np.int8)
    copies = sp.csr_array((ones, indices, indptr), shape=(2 * nodes, 2 * nodes))
    _, component = connected_components(copies, directed=False)
    return np.flatnonzero(component[:nodes] == component[nodes:])


def _odd_edge(graph: Graph, start: int) -> tuple[int, int]:
    """An edge whose ends are both at odd, or both at even distance from a node."""
    side = np.full(graph.nodes, -1, dtype=np.int8)
    side[start] = 0
    waiting = [start]
    for node in waiting:
        neighbors = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        new = neighbors[side[neighbors] < 0]
        side[new] = 1 - side[node]
        waiting += new.tolist()
    source = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    inside = (side[source] >= 0) & (side[source] == side[graph.indices])
    odd = int(np.argmax(inside))
    return int(source[odd]), int(graph.indices[odd])


def _refuse_directed(owner: str, graph: Graph) -> None:
    if graph.directed:
        raise GraphError(
            f"{owner}: walks go along edges both ways, and this graph is directed. Read it as "
            "undirected."
        )


def _not_bipartite(owner: str, graph: Graph, edge: tuple[int, int], what: str) -> GraphError:
    ends = " - ".join(repr(graph.ids[int(graph.rows[node])].as_py()) for node in edge)
    return GraphError(f"{owner}: the graph is not bipartite: the edge {ends} {what}.")
