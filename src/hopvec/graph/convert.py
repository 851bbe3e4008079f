"""Conversion from scipy, networkx, igraph and PyTorch Geometric, and to scipy and networkx."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec import _native, machine
from hopvec.errors import GraphError
from hopvec.graph.edge_list import from_numbered_edges
from hopvec.graph.graph import Graph
from hopvec.graph.ids import NumberedEdges, node_ids
from hopvec.graph.validation import check_flag, check_threads, checked_weights

if TYPE_CHECKING:
    import networkx as nx
    import scipy.sparse as sp


READER = "read_graph"  # the owner of matrices that are read from files


def from_scipy(
    matrix: sp.sparray | sp.spmatrix | NDArray[Any],
    ids: Sequence[Any] | Any | None,
    directed: bool,
    symmetrize: bool,
    threads: int | None,
    owner: str = "Graph.from_scipy(matrix",
) -> Graph:
    """See Graph.from_scipy."""
    import scipy.sparse as sp

    name = owner.split("(")[0]
    check_flag(name, "directed", directed)
    check_flag(name, "symmetrize", symmetrize)
    check_threads(threads)
    if directed and symmetrize:
        raise GraphError("directed=True and symmetrize=True are mutually exclusive.")
    if np.ma.isMaskedArray(matrix):
        raise GraphError("The adjacency matrix has a mask. Use matrix.filled(0).")
    try:
        check_positions(matrix)
        entries = sp.coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise GraphError(f"The adjacency matrix cannot be read ({error}).") from error
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise GraphError(
            f"An adjacency matrix must be square, got the shape {entries.shape}. Cross-validation "
            "in scikit-learn removes rows; search for parameters with hopvec.tune instead."
        )
    if entries.shape[0] == 0:
        raise GraphError("The graph is empty: the adjacency matrix has no rows.")
    if np.iscomplexobj(entries.data):
        raise GraphError("The adjacency matrix contains complex numbers; weights must be real.")
    names = node_ids(entries.shape[0] if ids is None else ids)
    if len(names) != entries.shape[0]:
        raise GraphError(f"ids must name all {entries.shape[0]:,} rows, got {len(names):,} ids.")
    source, target = (np.ascontiguousarray(end) for end in entries.coords)
    for end in (source, target):
        if len(end) and (end.min() < 0 or end.max() >= len(names)):
            raise GraphError("The adjacency matrix has an index outside of its shape.")
    weight = None
    if not (entries.data == 1).all():
        weight = checked_weights(entries.data, source, target)

    def build(directed: bool) -> Graph:
        edges = NumberedEdges(lambda: names, len(names), source, target)
        return from_numbered_edges(edges, weight, directed, "sum", "keep", threads)

    graph = build(directed=True)
    if directed:
        return graph
    if _symmetric(graph, threads):
        return _as_undirected(graph)
    if symmetrize:
        return build(directed=False)
    where = "directed=True" if owner == READER else f"{owner}, directed=True)"
    raise GraphError(
        f"The adjacency matrix is not symmetric. Use {where} if the direction matters, or "
        "symmetrize=True to take every entry as an undirected edge."
    )


def to_scipy(graph: Graph) -> sp.csr_array:
    """See Graph.to_scipy."""
    import scipy.sparse as sp

    weights = np.ones(graph.entries, np.float32) if graph.weights is None else graph.weights
    source = np.repeat(graph.rows, np.diff(graph.indptr))
    shape = (graph.nodes, graph.nodes)
    return sp.coo_array((weights, (source, graph.rows[graph.indices])), shape=shape).tocsr()


def from_networkx(
    graph: nx.Graph[Any], weight: str, relation: str | None, **relation_options: Any
) -> Graph:
    """See Graph.from_networkx."""
    nodes = list(graph)
    if not nodes:
        raise GraphError("The graph is empty: it has no nodes.")
    advice = "convert them first, for example with networkx.relabel_nodes(graph, str)."
    other = next((node for node in nodes if not isinstance(node, str | int | np.integer)), None)
    if other is not None:
        raise GraphError(
            f"A node of the networkx graph is {other!r}, but ids are integers or strings: {advice}"
        )
    mixed = next(
        (node for node in nodes if isinstance(node, str) != isinstance(nodes[0], str)), None
    )
    if mixed is not None:
        raise GraphError(
            f"Nodes of the networkx graph are {nodes[0]!r} and {mixed!r}, but ids must be all "
            f"integers or all strings: {advice}"
        )
    if weight != "weight":
        _check_attribute(weight, {name for *_, data in graph.edges(data=True) for name in data})
    source, target, weights = [], [], []
    for u, v, value in graph.edges(data=weight, default=1):
        source.append(u)
        target.append(v)
        weights.append(value)
    return Graph.from_edges(
        source,
        target,
        weights,
        relation=None if relation is None else _networkx_relations(graph, relation),
        **relation_options,
        directed=graph.is_directed(),
        nodes=nodes,
    )


def _networkx_relations(graph: nx.Graph[Any], relation: str) -> list[Any]:
    """The attribute of each edge, or its key in a MultiGraph."""
    if relation == "key" and graph.is_multigraph():
        found = [key for *_, key in graph.edges(keys=True)]
    else:
        found = [value for *_, value in graph.edges(data=relation)]
    if None in found:
        u, v, *_ = list(graph.edges)[found.index(None)]
        raise GraphError(
            f"The edge {u!r} - {v!r} of the networkx graph has no attribute {relation!r}, which "
            "relation= names."
        )
    return [str(value) for value in found]


def to_networkx(graph: Graph) -> nx.Graph[Any]:
    """See Graph.to_networkx."""
    import networkx as nx

    result = nx.Graph() if graph.symmetric else nx.DiGraph()
    ids = graph.ids.to_pylist()
    result.add_nodes_from(ids)
    entries = graph.to_scipy().tocoo()
    edges = (values.tolist() for values in (*entries.coords, entries.data))
    for u, v, weight in zip(*edges, strict=True):
        if not graph.symmetric or u <= v:
            if graph.weights is None:
                result.add_edge(ids[u], ids[v])
            else:
                result.add_edge(ids[u], ids[v], weight=weight)
    return result


def from_igraph(graph: Any, weight: str) -> Graph:
    """See Graph.from_igraph."""
    count = graph.vcount()
    if not count:
        raise GraphError("The graph is empty: it has no nodes.")
    source, target = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2).T
    nodes: Any = count
    if "name" in graph.vs.attributes():
        nodes = node_ids(graph.vs["name"])
        source, target = nodes.take(pa.array(source)), nodes.take(pa.array(target))
    if weight != "weight":
        _check_attribute(weight, set(graph.es.attributes()))
    weights = graph.es[weight] if weight in graph.es.attributes() else None
    return Graph.from_edges(source, target, weights, directed=graph.is_directed(), nodes=nodes)


def from_torch_geometric(
    data: Any,
    directed: bool,
    symmetrize: bool,
    threads: int | None,
    owner: str = "Graph.from_torch_geometric(data",
) -> Graph:
    """See Graph.from_torch_geometric."""
    import scipy.sparse as sp

    if hasattr(data, "edge_types"):
        raise GraphError(
            f"{type(data).__name__} has several kinds of nodes: embed one edge_index of it with "
            "Graph.from_bipartite, or all of them with hopvec.torch_geometric.AddFastRP."
        )
    edge_index = getattr(data, "edge_index", data)
    if edge_index is None:
        raise GraphError(
            "The data has no edge_index. If a transform such as ToSparseTensor replaced it by "
            "adj_t, embed the graph before that."
        )
    ends = _values(edge_index)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise GraphError(
            "edge_index must hold integers in the shape [2, edges], got "
            f"{ends.dtype} in the shape {list(ends.shape)}."
        )
    weight = getattr(data, "edge_weight", None)
    weights = np.ones(ends.shape[1], np.float32) if weight is None else _values(weight)
    if weights.ndim == 2 and weights.shape[1] == 1:
        weights = weights[:, 0]
    if weights.shape != ends.shape[1:]:
        raise GraphError(
            f"edge_weight must contain one number per edge: {ends.shape[1]:,} edges, got the shape "
            f"{list(weights.shape)}."
        )
    nodes = getattr(data, "num_nodes", None) or int(ends.max(initial=-1)) + 1
    if ends.size and not 0 <= ends.min() <= ends.max() < nodes:
        first = int(np.argmax(((ends < 0) | (ends >= nodes)).any(axis=0)))
        raise GraphError(
            f"edge_index, edge {first + 1} ({ends[0, first]} - {ends[1, first]}) is out of range; "
            f"with num_nodes={nodes:,} ids are 0 to {nodes - 1:,}."
        )
    matrix = sp.coo_array((weights, (ends[0], ends[1])), shape=(nodes, nodes))
    return from_scipy(matrix, None, directed, symmetrize, threads, owner)


def _check_attribute(weight: str, found: set[str]) -> None:
    """Raise GraphError if no edge has an attribute that was requested as the weight."""
    if weight not in found:
        have = f"they have {', '.join(map(repr, sorted(found)))}" if found else "they have none"
        raise GraphError(f"No edge has the attribute weight={weight!r}; {have}.")


def check_positions(matrix: Any) -> None:
    """Raise ValueError if the indptr of a matrix is damaged: scipy would write out of bounds."""
    if not hasattr(matrix, "indptr"):
        return
    indptr, indices = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    rows = matrix.shape[1 if matrix.format == "csc" else 0]
    rows //= matrix.blocksize[0] if matrix.format == "bsr" else 1
    if (
        indptr.shape != (rows + 1,)
        or indptr[0] != 0
        or (indptr[1:] < indptr[:-1]).any()
        or indptr[-1] > min(len(indices), len(matrix.data))
    ):
        raise ValueError(
            f"its indptr is damaged: it must ascend from 0 to the number of entries, "
            f"{len(indices):,}, and have a length of {rows + 1:,}"
        )


def _values(tensor: Any) -> NDArray[Any]:
    """The numbers of a tensor on any device."""
    return np.asarray(tensor.detach().cpu() if hasattr(tensor, "detach") else tensor)


def _symmetric(graph: Graph, threads: int | None) -> bool:
    return machine.interruptible(
        lambda stop: _native.symmetric(
            graph.indptr, graph.indices, graph.weights, threads or machine.cores(), stop
        )
    )


def _as_undirected(graph: Graph) -> Graph:
    from dataclasses import replace

    return replace(graph, directed=False)
