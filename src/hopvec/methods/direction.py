"""Direction: which edges of a directed graph the hops follow, and the memory for that.

An undirected graph has one transition matrix A, whatever the direction.
"""

from __future__ import annotations

import logging
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.slab import Hops, Transition
from hopvec.errors import GraphError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.graph.transpose import Direction, has_in_edges, transposed_csr

logger: logging.Logger = logging.getLogger("hopvec")

DIRECTIONS: dict[str, tuple[Direction, ...]] = {
    "out": ("out",),
    "in": ("in",),
    "both": ("both",),
    "concat": ("out", "in"),
}
"""The values of the parameter `direction`, with the direction of each equal part of the columns."""
TRANSPOSED_NODE_BYTES = 24  # degrees, their inverses and two powers of them


def transitions(
    graph: Graph, direction: str, threads: int, spill_dir: str | PathLike[str] | None = None
) -> Hops:
    """A for every part of the columns, in the internal order of the graph."""
    if not graph.directed:
        return [Transition(graph)]
    return [
        Transition(graph)
        if part == "out"
        else Transition(graph, csr=transposed_csr(graph, part, threads, spill_dir=spill_dir))
        for part in DIRECTIONS[direction]
    ]


def transpose_bytes(size: GraphSize, direction: str) -> dict[str, int]:
    """The memory of the transposed CSR arrays that a direction needs, by purpose."""
    if not size.directed or direction == "out":
        return {}
    copies = 2 if direction == "both" else 1
    rows = 8 * (size.nodes + 1) if size.in_file else copies * size.csr
    return {"transposed rows": rows + TRANSPOSED_NODE_BYTES * size.nodes}


def rows_without_edges(graph: Graph, direction: str) -> tuple[NDArray[np.int32], str]:
    """The rows of nodes without edges in a direction, and what they lack."""
    kind = edge_kind(graph.directed, direction)
    if not graph.directed or direction == "out":
        return graph.rows[graph._connected :], kind
    has_edges = has_in_edges(graph)
    if direction != "in":
        has_edges[: graph._connected] = True
    return graph.rows[~has_edges], kind


def edge_kind(directed: bool, direction: str) -> str:
    """The edges that the hops follow, for messages."""
    kinds = {"out": "outgoing edges", "in": "incoming edges"}
    return kinds.get(direction, "edges") if directed else "edges"


def check_direction(owner: str, directed: bool, direction: str) -> None:
    """Raise GraphError for 'concat' and an undirected graph; warn if direction has no effect."""
    if directed or direction == "out":
        return
    if direction == "concat":
        raise GraphError(
            f"{owner}: direction='concat' concatenates vectors of outgoing and of incoming edges, "
            "but this graph is undirected: both halves would be the same. Read the graph as "
            "directed, or leave direction= out."
        )
    logger.warning(
        "direction=%r has no effect: the graph is undirected. If its edges have a direction, read "
        "the graph as directed.",
        direction,
    )
