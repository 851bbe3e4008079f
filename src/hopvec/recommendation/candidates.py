"""Candidates: the nodes that may be recommended to a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.engine.top_products import ExcludedRows
from hopvec.evaluate.pairs import ids_like
from hopvec.graph import Graph
from hopvec.graph.node_types import type_mask

Nodes = NDArray[np.int64]
"""Numbers of nodes, in the internal order of a graph."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The nodes that may be recommended to a node.

    These are the nodes that it has no edge to, except itself; in a bipartite graph, those on the
    other side.

    Attributes
    ----------
    graph : Graph
        The edges that exist.
    allowed : ndarray of bool, or None
        Mask of the nodes that may be recommended at all; by default all.
    pairs : tuple of two ndarray, or None
        Further pairs that are left out: nodes, and what is not recommended to them.
    """

    graph: Graph
    allowed: NDArray[np.bool_] | None = None
    pairs: tuple[Nodes, Nodes] | None = None

    @cached_property
    def is_target(self) -> NDArray[np.bool_] | None:
        """Mask of the target side of a bipartite graph."""
        graph = self.graph
        return None if graph.is_target is None else graph.is_target[graph.rows]

    def mask(self, node: int) -> NDArray[np.bool_]:
        """Mask of the nodes that may be recommended to some node on the same side as this one."""
        allowed = np.ones(self.graph.nodes, bool) if self.allowed is None else self.allowed
        return (
            allowed
            if self.is_target is None
            else allowed & (self.is_target != self.is_target[node])
        )

    def runs(self, nodes: Nodes, step: int) -> Iterator[Nodes]:
        """Parts of a list of nodes, of at most `step` nodes, each on one side of the graph."""
        ends = list(range(step, len(nodes), step))
        if self.is_target is not None:
            changes = np.flatnonzero(np.diff(self.is_target[nodes])) + 1
            ends = sorted({*ends, *changes.tolist()})
        return (part for part in np.split(nodes, ends) if len(part))

    def excluded(self, nodes: Nodes, rows: NDArray[Any] | None = None) -> ExcludedRows:
        """The nodes that are left out for each of some nodes: itself, its edges, and `pairs`.

        `rows` are other numbers of all nodes to use in the result; negative ones are left out.
        """
        indptr, indices = self.graph.indptr, self.graph.indices
        parts = [(np.arange(len(nodes)), nodes), _entries(indptr, indices, nodes)]
        if self._pairs is not None:
            parts.append(_entries(*self._pairs, nodes))
        owner, omitted = (np.concatenate(part) for part in zip(*parts, strict=True))
        if rows is not None:
            omitted = rows[omitted]
            owner, omitted = owner[omitted >= 0], omitted[omitted >= 0]
        size = int(omitted.max(initial=0)) + 1
        codes = np.unique(owner * size + omitted)
        return ExcludedRows(np.searchsorted(codes, np.arange(len(nodes) + 1) * size), codes % size)

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int64], Nodes] | None:
        """The further pairs, sorted by their first node: offsets, and second nodes."""
        if self.pairs is None:
            return None
        first, second = self.pairs
        order = np.argsort(first, kind="stable")
        indptr = np.searchsorted(first[order], np.arange(self.graph.nodes + 1))
        return indptr, second[order]


def nodes_of_types(
    owner: str, types: str | Sequence[str], graph: Graph, embedding: Embedding | None
) -> NDArray[np.bool_]:
    """Mask of the nodes of some types, in the internal order of a graph.

    The types are those of the embedding; if it has none, those of the graph.
    """
    import pyarrow.compute as pc

    if embedding is None or embedding.types is None:
        return type_mask(owner, graph.node_types, types)[graph.rows]
    ids = embedding.ids.filter(pa.array(type_mask(owner, embedding.types, types)))
    mask: NDArray[np.bool_] = pc.is_in(graph.ids, value_set=ids_like(ids, graph.ids)).to_numpy(
        zero_copy_only=False
    )
    return mask[graph.rows]


def _entries(
    indptr: NDArray[np.int64], indices: NDArray[Any], nodes: Nodes
) -> tuple[NDArray[np.int64], Nodes]:
    """The CSR entries of some rows: the position of each row in `nodes`, and the entry."""
    counts = indptr[nodes + 1] - indptr[nodes]
    owner = np.repeat(np.arange(len(nodes)), counts)
    within = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    return owner, indices[np.repeat(indptr[nodes], counts) + within].astype(np.int64)
