"""NodeEdges: the graph beside an embedding, by the nodes of the embedding."""

from __future__ import annotations

import logging
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError
from hopvec.graph import Graph

logger = logging.getLogger("hopvec")

MAX_LISTED = 3  # ids that are named


def numbers_in(ids: pa.Array, known: pa.Array) -> NDArray[np.int64]:
    """The place of each id among the known ones, -1 where there is none; 7 and "7" are the same."""
    import pyarrow.compute as pc

    if pa.types.is_integer(ids.type) != pa.types.is_integer(known.type):
        ids, known = ids.cast(pa.large_string()), known.cast(pa.large_string())
    places = pc.index_in(ids.cast(known.type), value_set=known)
    found: NDArray[np.int64] = pc.fill_null(places, -1).to_numpy().astype(np.int64)
    return found


@dataclass(frozen=True, eq=False)
class NodeEdges:
    """The edges of nodes that are numbered as the rows of an embedding."""

    graph: Graph
    number: NDArray[np.int64]
    """[nodes]: the number of a node in the graph, -1 where the graph does not have it."""
    node: NDArray[np.int64]
    """[nodes of the graph]: the node of a number, -1 where there is none."""
    degrees: NDArray[np.int64]
    """[nodes]: the number of neighbors in the graph."""

    @staticmethod
    def of(graph: Graph, ids: pa.Array) -> NodeEdges:
        """The edges of the nodes that have these ids. Raises if the graph has none of them."""
        place = numbers_in(ids, graph.ids)
        if not (place >= 0).any():
            names = (
                ", ".join(map(repr, some[:MAX_LISTED].to_pylist())) for some in (graph.ids, ids)
            )
            in_graph, in_vectors = names
            raise ParameterError(
                f"The graph has none of the {len(ids):,} nodes that have a vector: its nodes are "
                f"called {in_graph}, ..., those with a vector {in_vectors}, ... Give the graph "
                "that the vectors were made from."
            )
        strange = graph.nodes - int(np.count_nonzero(place >= 0))
        if strange:
            logger.warning(
                "Nodes of the graph without a vector, %s of %s, are not shown.",
                f"{strange:,}",
                f"{graph.nodes:,}",
            )
        number_of_place = np.empty(graph.nodes, np.int64)
        number_of_place[graph.rows] = np.arange(graph.nodes)
        number = np.where(place >= 0, number_of_place[place], -1)
        node = np.full(graph.nodes, -1)
        node[number[number >= 0]] = np.flatnonzero(number >= 0)
        degrees = np.where(number >= 0, np.diff(graph.indptr)[number], 0)
        return NodeEdges(graph, number, node, degrees)

    def neighbors(self, node: int) -> NDArray[np.int64]:
        """The nodes that a node has an edge to, itself left out, and those without a vector."""
        number = int(self.number[node])
        if number < 0:
            return np.empty(0, np.int64)
        first, last = self.graph.indptr[number : number + 2]
        found = self.node[self.graph.indices[first:last]]
        others: NDArray[np.int64] = found[(found >= 0) & (found != node)]
        return others
