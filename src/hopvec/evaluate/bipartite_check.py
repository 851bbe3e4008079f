"""Checks that a graph of users and items is bipartite."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec.errors import GraphError
from hopvec.evaluate.pairs import Pairs
from hopvec.graph import Graph


def check_bipartite(owner: str, graph: Graph) -> None:
    """Raise GraphError, naming an edge on an odd cycle, unless the graph is bipartite. Linear."""
    _refuse_directed(owner, graph)
    odd = _nodes_on_odd_cycles(graph)
    if len(odd):
        edge = _edge_on_odd_cycle(graph, int(odd[0]))
        raise _not_bipartite(owner, graph, edge, "closes an odd cycle")


def item_mask(owner: str, graph: Graph, items: Any) -> NDArray[np.bool_]:
    """The mask of the nodes that are items, from a list of item ids.

    Raises GraphError, naming an edge, if it joins two items or two users. Linear.
    """
    _refuse_directed(owner, graph)
    is_item = np.zeros(graph.nodes, dtype=bool)
    is_item[Pairs(graph).find(items)] = True
    source = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    inside = np.flatnonzero(is_item[source] == is_item[graph.indices])
    if len(inside):
        edge = int(source[inside[0]]), int(graph.indices[inside[0]])
        what = "two items" if is_item[edge[0]] else "two nodes that are not items"
        raise _not_bipartite(owner, graph, edge, f"joins {what}")
    return is_item


def _nodes_on_odd_cycles(graph: Graph) -> NDArray[np.int64]:
    """The nodes of all components that contain an odd cycle.

    In the bipartite double cover, which has two copies of each node and joins opposite copies, a
    closed walk of odd length connects the two copies of its start node.
    """
    import scipy.sparse as sp
    from scipy.sparse.csgraph import connected_components

    nodes = graph.nodes
    indptr = np.concatenate([graph.indptr, graph.indptr[1:] + graph.entries])
    indices = np.concatenate([graph.indices + nodes, graph.indices])
    ones = np.ones(len(indices), dtype=np.int8)
    double_cover = sp.csr_array((ones, indices, indptr), shape=(2 * nodes, 2 * nodes))
    _, component = connected_components(double_cover, directed=False)
    return np.flatnonzero(component[:nodes] == component[nodes:])


def _edge_on_odd_cycle(graph: Graph, start: int) -> tuple[int, int]:
    """An edge whose ends get the same color when the component of `start` is 2-colored."""
    color = np.full(graph.nodes, -1, dtype=np.int8)
    color[start] = 0
    queue = [start]
    for node in queue:
        neighbors = graph.indices[graph.indptr[node] : graph.indptr[node + 1]]
        new = neighbors[color[neighbors] < 0]
        color[new] = 1 - color[node]
        queue += new.tolist()
    source = np.repeat(np.arange(graph.nodes), np.diff(graph.indptr))
    conflict = (color[source] >= 0) & (color[source] == color[graph.indices])
    edge = int(np.argmax(conflict))
    return int(source[edge]), int(graph.indices[edge])


def _refuse_directed(owner: str, graph: Graph) -> None:
    if graph.directed:
        raise GraphError(
            f"{owner}: walks follow edges in both directions, but this graph is directed. Read it "
            "as undirected: directed=False."
        )


def _not_bipartite(owner: str, graph: Graph, edge: tuple[int, int], what: str) -> GraphError:
    ends = " - ".join(repr(graph.ids[int(graph.rows[node])].as_py()) for node in edge)
    return GraphError(f"{owner}: the graph is not bipartite: the edge {ends} {what}.")
