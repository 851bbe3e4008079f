"""New nodes: vectors for nodes that were not in the graph when it was embedded.

Their rows are appended to the graph, so that they gather from the old nodes. No edge leads back, so
that the old vectors do not change.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from hopvec.embedding import Embedding
from hopvec.engine.plan import resident
from hopvec.engine.slab import Hops, Transition, has_edges
from hopvec.errors import GraphError
from hopvec.graph import Graph
from hopvec.graph.features import concatenate_features
from hopvec.graph.transpose import transposed_csr, transposed_graph
from hopvec.machine import available_memory, memory_limit
from hopvec.memory import Needs
from hopvec.methods.alignment import check_same_graph, shared_state
from hopvec.methods.direction import DIRECTIONS
from hopvec.progress import Progress

BYTES_PER_ENTRY, BYTES_PER_NODE = 42, 120  # of building the extended graph, as measured

if TYPE_CHECKING:
    from hopvec.methods.fastrp import FastRP


def embed_new_nodes(
    method: FastRP, new: Graph, *, graph: Graph, like: Embedding, progress: Progress
) -> Embedding:
    """Embed the new nodes of `new`; `like` is the embedding of `graph`. See FastRP.embed_new."""
    state = shared_state(method, like, graph.features.columns if graph.features else None)
    check_same_graph(graph, like)
    check_memory(method, graph, new)
    extended = extended_graphs(graph, new, method.direction)
    held = {"graph without new nodes": resident(graph) + resident(new)}
    plan = method._plan(extended[0], method._orders_with_norms(), held)
    hops = _transitions(extended, plan.threads)
    fitted = method._compute_along(hops, plan, progress, state, new_nodes=True)
    embedding = method._to_embedding(extended[0], fitted)
    without = extended[0].rows[~has_edges(hops)]
    lacking = method._nodes_without_edges(extended[0])[1]
    method._warn_about_zero_rows(fitted, without, lacking, first=graph.nodes)
    ids = embedding.ids[graph.nodes :]
    return replace(
        embedding, vectors=fitted.vectors[graph.nodes :], ids=ids, types=_types_of(new, ids)
    )


def _types_of(graph: Graph, ids: pa.Array) -> pa.Array | None:
    """The types of some nodes of a graph; None if no types are known."""
    import pyarrow.compute as pc

    types = graph.node_types
    return None if types is None else types.take(pc.index_in(ids, value_set=graph.ids))


def check_memory(method: FastRP, graph: Graph, new: Graph) -> None:
    """Raise MemoryLimitError if the extended graph cannot be built in the memory limit."""
    limit, held = memory_limit(method.memory), resident(graph) + resident(new)
    limit = held + available_memory() if limit is None else limit
    others = len(DIRECTIONS[method.direction]) - 1
    building = BYTES_PER_ENTRY * (graph.entries + new.entries)
    building += BYTES_PER_NODE * (graph.nodes + new.nodes)
    needed = held * (1 + others) + building
    parts = {"the graph and the new edges": held, "adding them to the graph": needed - held}
    Needs("Embedding new nodes", parts).check(
        limit, "Increase memory=.", available=memory_limit(method.memory) is None
    )


def extended_graphs(graph: Graph, new: Graph, direction: str) -> list[Graph]:
    """The graph with the new nodes appended, for every part of the columns."""
    if graph.directed != new.directed:
        kinds = ["directed" if some.directed else "undirected" for some in (graph, new)]
        raise GraphError(
            f"The graph is {kinds[0]}, but the new edges are {kinds[1]}. Read both in the same way."
        )
    return [
        append_new_nodes(transposed_graph(graph, part), transposed_graph(new, part))
        for part in DIRECTIONS[direction]
    ]


def _transitions(extended: list[Graph], threads: int) -> Hops:
    """A for every part of the columns, in the internal order of the first graph."""
    first, *others = extended
    return [
        Transition(first),
        *(
            Transition(first, csr=transposed_csr(other, "out", threads, like=first))
            for other in others
        ),
    ]


def append_new_nodes(graph: Graph, new: Graph) -> Graph:
    """Append the nodes of `new` that the graph lacks, as a directed graph.

    The old rows do not change. The rows of the new nodes hold their edges to old and new nodes;
    they come last, in the order of `new.ids`, and so do their features. Raises GraphError if there
    is no new node, or an edge between two old ones.
    """
    import pyarrow.compute as pc
    import scipy.sparse as sp

    if graph.ids.type != new.ids.type:
        raise GraphError(
            f"The ids of the new edges are {_kind(new)}, but those of the graph are "
            f"{_kind(graph)}: no node could be in both."
        )
    old_rows = pc.index_in(new.ids, value_set=graph.ids)
    is_new = old_rows.is_null().to_numpy(zero_copy_only=False)
    if not is_new.any():
        raise GraphError(
            "All nodes of the new edges are already in the graph: embed the whole graph again."
        )
    entries = new.to_scipy().tocoo()
    between_old = ~is_new[entries.row] & ~is_new[entries.col]
    if between_old.any():
        ends = (new.ids[int(end[between_old][0])].as_py() for end in (entries.row, entries.col))
        raise GraphError(
            "The new edge {!r} - {!r} joins two nodes that are already in the graph. Leave it out, "
            "or embed the whole graph again.".format(*ends)
        )
    row = np.where(is_new, graph.nodes + np.cumsum(is_new) - 1, old_rows.fill_null(0).to_numpy())
    from_new = is_new[entries.row]
    nodes = graph.nodes + int(is_new.sum())
    new_rows = sp.coo_matrix(
        (
            entries.data[from_new],
            (row[entries.row[from_new]] - graph.nodes, row[entries.col[from_new]]),
        ),
        shape=(nodes - graph.nodes, nodes),
    )
    matrix = graph.to_scipy()
    matrix.resize(graph.nodes, nodes)
    ids = pa.concat_arrays([graph.ids, new.ids.filter(pa.array(is_new))])
    extended = Graph.from_scipy(sp.vstack([matrix, new_rows], format="csr"), ids=ids, directed=True)
    return replace(extended, features=concatenate_features(graph.features, new.features, is_new))


def _kind(graph: Graph) -> str:
    return "integers" if pa.types.is_integer(graph.ids.type) else "strings"
