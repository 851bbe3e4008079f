"""relations="concat": a part of the columns for each relation of the graph."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from hopvec.embedding import Embedding
from hopvec.engine.slab import Hops, Transition
from hopvec.errors import GraphError, ParameterError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.methods.direction import DIRECTIONS

logger: logging.Logger = logging.getLogger("hopvec")

KIND_NODE_BYTES = 32  # of a node in A of a relation: indptr, degrees, their inverses, two powers


def relation_transitions(
    graph: Graph, direction: str, threads: int, spill_dir: str | PathLike[str] | None = None
) -> Hops:
    """A of every relation, in every direction, in the internal order of the graph."""
    if graph.relations is None:
        raise GraphError("The graph has no relations.")
    directions = DIRECTIONS[direction] if graph.directed else ("out",)
    return [
        Transition(graph, csr=graph.relations._csr(graph, number, followed, threads, spill_dir))
        for number in range(len(graph.relations.kinds))
        for followed in directions
    ]


def relation_bytes(size: GraphSize, direction: str) -> dict[str, int]:
    """The memory of A of every relation."""
    if size.relations is None:
        return {}
    directions = len(DIRECTIONS[direction]) if size.directed else 1
    entries = 0 if size.in_file else 8 * size.relations.entries
    if direction == "both":
        entries *= 2
    nodes = KIND_NODE_BYTES * size.nodes * size.relations.kinds
    return {"relations": directions * (entries + nodes)}


def check_relations(owner: str, graph: Graph, columns: int, parts: int, step: int) -> None:
    """Raise if a graph has no relations, or if the columns cannot be divided among them."""
    if graph.relations is None:
        raise no_relations_error(owner)
    check_part_columns(owner, columns, parts, step, len(graph.relations.kinds))


def no_relations_error(owner: str) -> GraphError:
    """The error of relations='concat' and a graph without relations."""
    return GraphError(
        f"{owner}: relations='concat' has columns for each relation, but this graph has no "
        "relations. Read it with relation=, or leave relations= out."
    )


def check_part_columns(owner: str, columns: int, parts: int, step: int, relations: int) -> None:
    """Raise ParameterError if the columns cannot be divided among the parts."""
    if columns % (parts * step):
        noun = "relation" if relations == 1 else "relations"
        raise ParameterError(
            f"{owner}: relations='concat' needs a number of columns (dim times oversample) that is "
            f"a multiple of {parts * step} for the {relations} {noun} of this "
            f"graph, such as {-(-columns // (parts * step)) * parts * step:,}; got {columns:,}."
        )


def warn_if_read_otherwise(owner: str, graph: Graph, like: Embedding) -> None:
    """Warn if the graph of an embedding was weighed in another way, by relations or by age."""
    if "volume" not in like.graph:  # Spark and other programs do not record how edges were weighed
        return
    own = graph.describe()
    both = {*like.graph.get("relations", {})} & {*own.get("relations", {})}  # one may lack edges
    theirs, ours = _weighing(like.graph, both), _weighing(own, both)
    if theirs != ours:
        logger.warning(
            "%s: the embedding like= was made from a graph %s, but this graph is %s. Read both "
            "with the same options.",
            owner,
            theirs,
            ours,
        )


def _weighing(graph: Mapping[str, Any], both: set[str]) -> str:
    """How edges were weighed, with the weights of the relations that are in both graphs."""
    relations = graph.get("relations")
    weights = [f"{name}={relations[name]['weight']:g}" for name in sorted(both) if relations]
    half_life = graph.get("half_life")
    balance = graph.get("relation_balance", "none")
    parts = [
        f"with relations ({', '.join([*weights, 'balance ' + balance])})"
        if relations
        else "without relations",
        f"weighed by age (half-life {half_life})" if half_life else "not weighed by age",
    ]
    return " and ".join(parts)


def check_same_relations(owner: str, ours: Sequence[str], like: Embedding) -> None:
    """Raise ParameterError if an embedding was made from other relations than ours."""
    theirs, ours = list(like.graph.get("relations", {})), list(ours)
    if theirs != ours:
        raise ParameterError(
            f"{owner}: the embedding like= was made with the relations {', '.join(theirs)}, but "
            f"this graph has {', '.join(ours) or 'none'}. Name all of them in relation_weights= "
            "in both runs."
        )
