"""Scores of links that are computed on the graph itself, without vectors.

For a pair (u, v), with S the adjacency matrix:

common-neighbors   the number of paths from u to v: of two steps, in a bipartite graph of three
adamic-adar        the same, each path weighted by the product of 1 / log(number of edges of w) over
                   the nodes w between u and v
rp3beta            (P^alpha)^3_uv / d_v^beta with P = D^-1 S, entrywise powers, and d_v the sum of
                   column v of S: random walks of three steps, with a penalty for popular nodes
                   (Paudel et al., 2016)
most popular       the number of edges of v, in a directed graph of incoming edges
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.graph import Graph
from hopvec.graph.transpose import transposed_csr
from hopvec.machine import cores, interruptible
from hopvec.recommendation.candidates import Candidates, Nodes

BLOCK_NODES = 256  # that are scored between two progress reports


class PathScorer:
    """Scores nodes by the weighted paths that lead to them."""

    block = BLOCK_NODES

    def __init__(
        self,
        graph: Graph,
        name: str,
        *,
        steps: int,
        entry: NDArray[np.float64] | None = None,
        inner: NDArray[np.float64] | None = None,
        last: NDArray[np.float64] | None = None,
    ) -> None:
        self.name = name
        self.metadata: dict[str, Any] = {"score": name}
        self._graph = graph
        self._paths = graph.indptr, graph.indices, entry, inner, last, steps

    def top(
        self, nodes: Nodes, k: int, candidates: Candidates
    ) -> tuple[Nodes, NDArray[np.float64]]:
        """The k best candidates of each node, -1 if there are fewer, and their scores."""
        allowed = None if candidates.allowed is None else candidates.allowed.view(np.uint8)
        omitted = candidates.excluded(nodes)
        limits = allowed, omitted.indptr, omitted.rows, self._graph.rows, k, cores()
        found, scores = interruptible(partial(_native.top_paths, *self._paths, nodes, *limits))
        return found.reshape(-1, k), scores.reshape(-1, k)

    def score(self, first: Nodes, second: Nodes) -> NDArray[np.float64]:
        """The scores of pairs of nodes."""
        return interruptible(partial(_native.score_paths, *self._paths, first, second, cores()))

    def can_score(self, nodes: Nodes) -> NDArray[np.bool_]:
        """All nodes."""
        return np.ones(len(nodes), bool)


def common_neighbors(graph: Graph) -> PathScorer:
    """The number of paths."""
    return PathScorer(graph, "common-neighbors", steps=_steps(graph))


def adamic_adar(graph: Graph) -> PathScorer:
    """Paths weighted by the degrees of their inner nodes."""
    edges = np.maximum(2, edge_counts(graph).sum(axis=0)).astype(np.float64)
    inner = 1 / _native.logarithm(edges)
    return PathScorer(graph, "adamic-adar", steps=_steps(graph), inner=inner)


def rp3beta(graph: Graph, alpha: float, beta: float) -> PathScorer:
    """Random walks of three steps with a penalty for popular nodes."""
    weights = np.ones(graph.entries) if graph.weights is None else graph.weights
    steps: NDArray[np.float64] = weights / np.repeat(graph._node_degrees, np.diff(graph.indptr))
    popularity = np.array(graph._node_degrees)
    if graph.directed:
        incoming = np.bincount(graph.indices, weights, graph.nodes)
        popularity = incoming.astype(np.float64)
    popularity[popularity == 0] = 1  # no path leads to these nodes
    entry, last = _native.power(steps, alpha), _native.power(popularity, -beta)
    scorer = PathScorer(graph, "rp3beta", steps=3, entry=entry, last=last)
    scorer.metadata |= {"alpha": alpha, "beta": beta}
    return scorer


@dataclass(frozen=True, eq=False)
class PopularityScorer:
    """Scores nodes by their number of edges, in a directed graph of incoming edges."""

    graph: Graph

    name = "most popular"
    block = BLOCK_NODES

    @property
    def metadata(self) -> dict[str, Any]:
        """The name of the score."""
        return {"score": self.name}

    @cached_property
    def _degrees(self) -> NDArray[np.int64]:
        degrees: NDArray[np.int64] = edge_counts(self.graph)[int(self.graph.directed)]
        return degrees

    @cached_property
    def _order(self) -> Nodes:
        """All nodes, most popular first; ties are ordered by row."""
        return np.lexsort((self.graph.rows, -self._degrees))

    def top(
        self, nodes: Nodes, k: int, candidates: Candidates
    ) -> tuple[Nodes, NDArray[np.float64]]:
        """The k best candidates of each node, -1 if there are fewer, and their scores."""
        order = self._order[candidates.mask(int(nodes[0]))[self._order]]
        omitted = candidates.excluded(nodes)
        found = np.full((len(nodes), k), -1)
        for position in range(len(nodes)):
            out = omitted.rows[omitted.indptr[position] : omitted.indptr[position + 1]]
            first = order[: k + len(out)]
            best = first[~np.isin(first, out)][:k]
            found[position, : len(best)] = best
        return found, np.where(found >= 0, self._degrees[found], 0).astype(np.float64)

    def score(self, first: Nodes, second: Nodes) -> NDArray[np.float64]:
        """The scores of pairs of nodes."""
        return self._degrees[second].astype(np.float64)

    def can_score(self, nodes: Nodes) -> NDArray[np.bool_]:
        """All nodes."""
        return np.ones(len(nodes), bool)


def edge_counts(graph: Graph) -> NDArray[Any]:
    """The number of outgoing and of incoming edges of each node: an array [2, nodes].

    In an undirected graph every edge is counted once, as outgoing.
    """
    outgoing = np.diff(graph.indptr)
    incoming = np.bincount(graph.indices, minlength=graph.nodes) if graph.directed else 0 * outgoing
    return np.stack([outgoing, incoming])


@dataclass(frozen=True, eq=False)
class CommonNeighbors:
    """The common neighbors of pairs of nodes.

    In a directed graph these are the nodes w with edges u -> w -> v. In a bipartite graph, where u
    and v cannot have a neighbor in common, they are the neighbors of v that share a neighbor with
    u: the other users of an item who have an item in common with the user.
    """

    graph: Graph

    def count(self, first: Nodes, second: Nodes) -> NDArray[np.int32]:
        """The number of common neighbors of each pair."""
        graph, steps = self.graph, _steps(self.graph) - 1
        adjacent = graph.indptr, graph.indices, *self._incoming
        return interruptible(
            lambda stop: _native.count_common(*adjacent, steps, first, second, cores(), stop)
        )

    @cached_property
    def _incoming(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The incoming edges in CSR format, in a file if the graph is."""
        graph = self.graph
        if not graph.directed:
            return graph.indptr, graph.indices
        transposed = transposed_csr(replace(graph, weights=None), "in", cores())
        return transposed.indptr, transposed.indices


def _steps(graph: Graph) -> int:
    """The length of the shortest paths between nodes that could be linked."""
    return 2 if graph.is_target is None else 3
