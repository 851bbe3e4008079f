"""Graphs of other libraries, and back: scipy and networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.errors import GraphError
from hopvec.graph.build import check_flag, checked_weights, from_numbering
from hopvec.graph.graph import Graph
from hopvec.graph.ids import Numbering, ids_of

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp


def from_scipy(
    matrix: sp.sparray | sp.spmatrix | NDArray[Any],
    ids: Sequence[Any] | Any | None,
    directed: bool,
    symmetrize: bool,
    threads: int | None,
) -> Graph:
    """See Graph.from_scipy."""
    import scipy.sparse as sp

    check_flag("Graph.from_scipy", "directed", directed)
    check_flag("Graph.from_scipy", "symmetrize", symmetrize)
    if directed and symmetrize:
        raise GraphError("directed=True and symmetrize=True exclude each other.")
    try:
        entries = sp.coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise GraphError(f"The adjacency matrix cannot be read ({error}).") from error
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise GraphError(f"An adjacency matrix is square, got the shape {entries.shape}.")
    if entries.shape[0] == 0:
        raise GraphError("The graph is empty: the adjacency matrix has no rows.")
    if np.iscomplexobj(entries.data):
        raise GraphError("The adjacency matrix holds complex numbers; weights are real.")
    names = ids_of(entries.shape[0] if ids is None else ids)
    if len(names) != entries.shape[0]:
        raise GraphError(f"ids must name all {entries.shape[0]:,} rows, got {len(names):,} ids.")
    source, target = (np.ascontiguousarray(end) for end in entries.coords)
    weight = None
    if not (entries.data == 1).all():
        weight = checked_weights(entries.data, source, target)
    numbering = Numbering(names, source, target)
    graph = from_numbering(numbering, weight, True, "sum", "keep", threads)
    if directed:
        return graph
    if _symmetric(graph, threads):
        return _as_undirected(graph)
    if symmetrize:
        return from_numbering(numbering, weight, False, "sum", "keep", threads)
    raise GraphError(
        "The adjacency matrix is not symmetric. Use Graph.from_scipy(matrix, directed=True) if its "
        "direction matters, or symmetrize=True there to take every entry as an undirected edge."
    )


def to_scipy(graph: Graph) -> sp.csr_array:
    """See Graph.to_scipy."""
    import scipy.sparse as sp

    weights = np.ones(graph.entries, np.float32) if graph.weights is None else graph.weights
    source = np.repeat(graph.rows, np.diff(graph.indptr))
    shape = (graph.nodes, graph.nodes)
    return sp.coo_array((weights, (source, graph.rows[graph.indices])), shape=shape).tocsr()


def from_networkx(graph: nx.Graph, weight: str) -> Graph:
    """See Graph.from_networkx."""
    nodes = list(graph)
    if not nodes:
        raise GraphError("The graph is empty: it has no nodes.")
    source, target, weights = [], [], []
    for u, v, value in graph.edges(data=weight, default=1):
        source.append(u)
        target.append(v)
        weights.append(value)
    return Graph.from_edges(source, target, weights, directed=graph.is_directed(), nodes=nodes)


def to_networkx(graph: Graph) -> nx.Graph:
    """See Graph.to_networkx."""
    import networkx as nx

    result = nx.DiGraph() if graph.directed else nx.Graph()
    ids = graph.ids.to_pylist()
    result.add_nodes_from(ids)
    entries = graph.to_scipy().tocoo()
    edges = (values.tolist() for values in (*entries.coords, entries.data))
    for u, v, weight in zip(*edges, strict=True):
        if graph.directed or u <= v:
            if graph.weights is None:
                result.add_edge(ids[u], ids[v])
            else:
                result.add_edge(ids[u], ids[v], weight=weight)
    return result


def _symmetric(graph: Graph, threads: int | None) -> bool:
    return machine.interruptible(
        lambda stop: _native.symmetric(
            graph.indptr, graph.indices, graph.weights, threads or machine.cores(), stop
        )
    )


def _as_undirected(graph: Graph) -> Graph:
    from dataclasses import replace

    return replace(graph, directed=False)
