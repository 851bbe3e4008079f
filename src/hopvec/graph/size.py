"""GraphSize: what determines the memory of a graph, before or after it is built."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from hopvec.graph.graph import Graph

GRAPH_NODE_BYTES = 32  # besides ids and indptr: keys, rows, degrees, their inverses, two powers
RELATION_NODE_BYTES = 48  # of a pair of a relation and a node


@dataclass(frozen=True)
class RelationsSize:
    """What determines the memory of the adjacency matrices of relations."""

    kinds: int
    pairs: int
    """Pairs of a relation and a node that has it."""
    entries: int
    """Of all matrices, in memory or in a file."""
    in_memory: int
    """The bytes of the matrices, unless they are in a file."""


@dataclass(frozen=True)
class GraphSize:
    """What determines the memory of a graph. Before it is built, these are upper bounds."""

    nodes: int
    entries: int
    weighted: bool
    directed: bool
    id_bytes: int
    in_file: bool = False
    """Whether the entries and their weights are in a file."""
    features: int = 0
    """The bytes of the node features."""
    relations: RelationsSize | None = None

    @classmethod
    def of(cls, graph: Graph) -> Self:
        """The size of a graph."""
        relations = None
        if graph.relations is not None:
            parts = graph.relations.parts
            relations = RelationsSize(
                len(graph.relations.kinds),
                sum(len(part.node) for part in parts),
                sum(part.graph.entries for part in parts),
                sum(0 if part.graph._mapped else part.graph.nbytes for part in parts),
            )
        return cls(
            nodes=graph.nodes,
            entries=graph.entries,
            weighted=graph.weights is not None,
            directed=graph.directed,
            id_bytes=int(graph.ids.nbytes),
            in_file=graph._mapped,
            features=graph.features.nbytes if graph.features else 0,
            relations=relations,
        )

    def written_to_file(self) -> Self:
        """The same graph with its entries in a file."""
        return replace(self, in_file=True)

    @property
    def entry_bytes(self) -> int:
        """The bytes of all entries and their weights, wherever they are."""
        return self.entries * (8 if self.weighted else 4)

    @property
    def csr(self) -> int:
        """The bytes of the CSR arrays, wherever they are."""
        return 8 * (self.nodes + 1) + self.entry_bytes

    @property
    def resident(self) -> int:
        """The memory of the graph in a run: CSR arrays, ids, features and all arrays per node."""
        rows = self.csr - (self.entry_bytes if self.in_file else 0)
        relations = self.relations
        matrices = RELATION_NODE_BYTES * relations.pairs + relations.in_memory if relations else 0
        return rows + self.id_bytes + GRAPH_NODE_BYTES * self.nodes + self.features + matrices


def id_bytes(count: int, text_bytes: int) -> int:
    """The memory of ids as an Arrow array: integers if `text_bytes` is 0, else strings."""
    return 8 * (count + 1) + text_bytes if text_bytes else 8 * count
