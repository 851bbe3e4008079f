"""relations="concat": a part of the columns for each relation of the graph."""

from __future__ import annotations

from os import PathLike

from hopvec.embedding import Embedding
from hopvec.engine.slab import Hops, Transition
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.methods.direction import DIRECTIONS


def relation_transitions(
    graph: Graph, direction: str, threads: int, spill_dir: str | PathLike[str] | None = None
) -> Hops:
    """A of every relation, in every direction, in the internal order of the graph."""
    if graph.relations is None:
        raise GraphError("The graph has no relations.")
    ways = DIRECTIONS[direction] if graph.directed else ("out",)
    return [
        Transition(graph, csr=graph.relations._csr(graph, number, way, threads, spill_dir))
        for number in range(len(graph.relations.kinds))
        for way in ways
    ]


def relation_bytes(graph: Graph, direction: str) -> dict[str, int]:
    """The memory of A of every relation."""
    if graph.relations is None:
        return {}
    ways = len(DIRECTIONS[direction])
    entries = 0 if graph._mapped else 8 * sum(part.graph.entries for part in graph.relations.parts)
    if direction == "both":
        entries *= 2
    return {"relations": ways * (entries + 24 * graph.nodes * len(graph.relations.kinds))}


def check_relations(owner: str, graph: Graph, columns: int, parts: int, step: int) -> None:
    """Raise if a graph has no relations, or if the columns cannot be divided among them."""
    if graph.relations is None:
        raise GraphError(
            f"{owner}: relations='concat' has columns for each relation, but this graph has no "
            "relations. Read it with relation=, or leave relations out."
        )
    if columns % (parts * step):
        raise ParameterError(
            f"{owner}: relations='concat' needs a number of columns (dim times oversample) that is "
            f"a multiple of {parts * step} for the {len(graph.relations.kinds)} relations of this "
            f"graph, got {columns:,}."
        )


def check_same_relations(owner: str, graph: Graph, like: Embedding) -> None:
    """Raise ParameterError if an embedding was made from other relations."""
    theirs, ours = list(like.graph.get("relations", {})), graph.relations and graph.relations.names
    if theirs != ours:
        raise ParameterError(
            f"{owner}: the embedding like= was made with the relations {', '.join(theirs)}, but "
            f"this graph has {', '.join(ours or ['none'])}. Name all of them in relation_weights= "
            "in both runs."
        )
