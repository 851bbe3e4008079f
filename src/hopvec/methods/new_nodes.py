"""Nodes that come after a run: rows appended to its graph, which nothing flows back from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from hopvec.errors import GraphError
from hopvec.graph import Graph
from hopvec.graph.features import concatenate_features


def with_new_nodes(graph: Graph, new: Graph) -> Graph:
    """The graph with the nodes of `new` that it has not: directed, its own rows as they are.

    The rows of the new nodes are their edges to old and to new nodes; they come last, in the order
    of `new.ids`, and so do their features. Raises GraphError if there is no new node, or an edge
    between two old ones.
    """
    import pyarrow.compute as pc
    import scipy.sparse as sp

    if graph.ids.type != new.ids.type:
        raise GraphError(
            f"The ids of the new edges are {_kind(new)}, and those of the graph are "
            f"{_kind(graph)}: no node could be in both."
        )
    places = pc.index_in(new.ids, value_set=graph.ids)
    fresh = places.is_null().to_numpy(zero_copy_only=False)
    if not fresh.any():
        raise GraphError("The new edges have no node that the graph has not: embed it anew.")
    entries = new.to_scipy().tocoo()
    old = ~fresh[entries.row] & ~fresh[entries.col]
    if old.any():
        ends = (new.ids[int(end[old][0])].as_py() for end in (entries.row, entries.col))
        raise GraphError(
            "The new edge {!r} - {!r} joins two nodes that the graph has. Leave it out, or embed "
            "the whole graph anew.".format(*ends)
        )
    number = np.where(fresh, graph.nodes + np.cumsum(fresh) - 1, places.fill_null(0).to_numpy())
    theirs = fresh[entries.row]
    nodes = graph.nodes + int(fresh.sum())
    rows = sp.coo_matrix(
        (
            entries.data[theirs],
            (number[entries.row[theirs]] - graph.nodes, number[entries.col[theirs]]),
        ),
        shape=(nodes - graph.nodes, nodes),
    )
    own = graph.to_scipy()
    own.resize(graph.nodes, nodes)
    ids = pa.concat_arrays([graph.ids, new.ids.filter(pa.array(fresh))])
    extended = Graph.from_scipy(sp.vstack([own, rows], format="csr"), ids=ids, directed=True)
    return replace(extended, features=concatenate_features(graph.features, new.features, fresh))


def _kind(graph: Graph) -> str:
    return "integers" if pa.types.is_integer(graph.ids.type) else "strings"
