"""NodeEdges: the edges of the nodes of an embedding."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError
from hopvec.graph import Graph

logger: logging.Logger = logging.getLogger("hopvec")

MAX_LISTED = 3  # ids in an error message


def index_in(ids: pa.Array, all_ids: pa.Array) -> NDArray[np.int64]:
    """The index of each id in `all_ids`, or -1 if it is missing; 7 and "7" are equal."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type) != pa.types.is_integer(all_ids.type):
        ids, all_ids = ids.cast(pa.large_string()), all_ids.cast(pa.large_string())
    positions = pc.index_in(ids.cast(all_ids.type), value_set=all_ids)
    found: NDArray[np.int64] = pc.fill_null(positions, -1).to_numpy().astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class NodeEdges:
    """The edges of nodes, which are numbered by the rows of an embedding."""

    graph: Graph
    index: NDArray[np.int64]
    """[nodes]: the internal index of a node in the graph, or -1 if it is missing there."""
    node: NDArray[np.int64]
    """[nodes of the graph]: the node of an internal index, or -1 if it has no vector."""
    degrees: NDArray[np.int64]
    """[nodes]: the degree in the graph."""

    @staticmethod
    def from_graph(graph: Graph, ids: pa.Array) -> NodeEdges:
        """The edges of the nodes with these ids. Raises ParameterError if none is in the graph."""
        position = index_in(ids, graph.ids)
        if not (position >= 0).any():
            names = (
                ", ".join(map(repr, some[:MAX_LISTED].to_pylist())) for some in (graph.ids, ids)
            )
            in_graph, in_vectors = names
            raise ParameterError(
                f"The graph has none of the {len(ids):,} nodes that have a vector: its ids are "
                f"{in_graph}, ..., the ids of the vectors are {in_vectors}, ... Use the graph that "
                "the vectors were made from."
            )
        missing = graph.nodes - int(np.count_nonzero(position >= 0))
        if missing:
            logger.warning(
                "%s of %s nodes of the graph have no vector and are not shown.",
                f"{missing:,}",
                f"{graph.nodes:,}",
            )
        index_of_position = np.empty(graph.nodes, np.int64)
        index_of_position[graph.rows] = np.arange(graph.nodes)
        index = np.where(position >= 0, index_of_position[position], -1)
        node = np.full(graph.nodes, -1)
        node[index[index >= 0]] = np.flatnonzero(index >= 0)
        degrees = np.where(index >= 0, np.diff(graph.indptr)[index], 0)
        return NodeEdges(graph, index, node, degrees)

    def neighbors(self, node: int) -> NDArray[np.int64]:
        """The neighbors of a node, without itself and without nodes that have no vector."""
        index = int(self.index[node])
        if index < 0:
            return np.empty(0, np.int64)
        first, last = self.graph.indptr[index : index + 2]
        found = self.node[self.graph.indices[first:last]]
        others: NDArray[np.int64] = found[(found >= 0) & (found != node)]
        return others
