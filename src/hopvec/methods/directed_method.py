"""DirectedMethod: what the methods share that can go along edges either way."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.plan import SLAB_COLUMNS
from hopvec.engine.slab import Hops, Transition
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.transpose import Direction, has_in_edges, transposed_csr, transposed_graph
from hopvec.methods.comparable_method import ComparableMethod
from hopvec.methods.new_nodes import with_new_nodes
from hopvec.methods.parameters import OneOf

logger = logging.getLogger("hopvec")

PARTS: dict[str, tuple[Direction, ...]] = {
    "out": ("out",),
    "in": ("in",),
    "both": ("both",),
    "concat": ("out", "in"),
}
"""The directions, and those of the equal parts of the columns."""


@dataclass(kw_only=True, eq=False, repr=False)
class DirectedMethod(ComparableMethod):
    """A method whose hops go along the edges of a directed graph, against them, or both ways.

    An undirected graph has one A, whatever the direction.
    """

    direction: Annotated[
        Literal["out", "in", "both", "concat"],
        OneOf(tuple(PARTS)),
        "of a directed graph, 'out': a node is where its edges lead to; 'in': where they come "
        "from; 'both': every edge as an undirected one; 'concat': half of the columns out, half in",
    ] = "out"

    @property
    def parts(self) -> int:
        """The equal parts that the columns fall into, each along hops of its own."""
        return len(PARTS[self.direction])

    def hops(self, graph: Graph) -> Hops:
        """A for every part of the columns, in the numbering of the graph."""
        if not graph.directed:
            return [Transition(graph)]
        threads = self.plan(graph).threads
        return [
            Transition(graph)
            if turn == "out"
            else Transition(
                graph, turned=transposed_csr(graph, turn, threads, spill_dir=self.spill_dir)
            )
            for turn in PARTS[self.direction]
        ]

    def hops_of_new_nodes(self, graph: Graph, new: Graph) -> Hops:
        """The same for the graph and nodes that come later, which nothing flows back from.

        The rows of the new nodes are their edges in the direction.
        """
        if graph.directed != new.directed:
            kinds = ["directed" if some.directed else "undirected" for some in (graph, new)]
            raise GraphError(
                f"The graph is {kinds[0]}, and the new edges are {kinds[1]}. Read both alike."
            )
        first, *others = (
            with_new_nodes(transposed_graph(graph, turn), transposed_graph(new, turn))
            for turn in PARTS[self.direction]
        )
        threads = self.plan(first).threads
        return [
            Transition(first),
            *(
                Transition(first, turned=transposed_csr(o, "out", threads, like=first))
                for o in others
            ),
        ]

    def validate_graph(self, graph: Any) -> Graph:
        """The Graph to embed; 'concat' is refused for an undirected one."""
        accepted = super().validate_graph(graph)
        if accepted.directed or self.direction == "out":
            return accepted
        if self.direction == "concat":
            raise GraphError(
                f"{type(self).__name__}: direction='concat' puts where edges lead to beside where "
                "they come from, and this graph is undirected: both halves would be the same. Read "
                "it as directed, or leave the direction out."
            )
        logger.warning(
            "The direction %r makes no difference: the graph is undirected. If its edges have a "
            "direction, read it as directed.",
            self.direction,
        )
        return accepted

    def check(self) -> None:
        """Raises ParameterError; the parts of the columns must be whole slabs."""
        super().check()
        step = self.parts * SLAB_COLUMNS[self.precision]
        if self.parts > 1 and self.width % step:
            raise ParameterError(
                f"{type(self).__name__}: direction={self.direction!r} needs a number of columns "
                f"(dim times oversample) that is a multiple of {step} in {self.precision}, got "
                f"{self.width:,}."
            )

    def without_edges(self, graph: Graph) -> tuple[NDArray[np.int32], str]:
        """The rows of the nodes without edges in the direction, and what they lack."""
        if self.direction == "out" or not graph.directed:
            return super().without_edges(graph)
        entered = has_in_edges(graph)
        if self.direction == "in":
            return graph.rows[~entered], "incoming edges"
        entered[: graph.connected] = True
        return graph.rows[~entered], "edges"

    def more_bytes_of(self, graph: Graph) -> dict[str, int]:
        """The rows that the direction needs beside those of the graph."""
        if not graph.directed or self.direction == "out":
            return {}
        copies = 0 if graph.mapped else 2 if self.direction == "both" else 1
        return {"turned rows": copies * graph.nbytes + 16 * graph.nodes}

    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""
        copies = {"out": 0, "both": 2}.get(self.direction, 1)
        return super().working_bytes(nodes) + copies * rows
