"""Pairs of nodes encoded as integers: the edges of a graph, and random non-edges."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError, UnknownNodeError
from hopvec.evaluate.hashing import hash_uint64, uniform_integers
from hopvec.graph import Graph
from hopvec.graph.bipartite import sources_first
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import as_ids

Sampling = Literal["uniform", "degree"]
"""How non-edges are drawn: all alike, or both ends in proportion to their number of edges."""
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)

DENSE = 4  # if more than 1 / DENSE of all pairs are taken or requested, all are listed
MAX_BATCH = 1 << 22  # pairs that are drawn at a time
MAX_DRAWS = 1000  # per requested pair; fewer than two are needed unless hubs are a clique
MIN_DRAWS = 1 << 20  # that are tried in any case

Codes = NDArray[np.int64]
Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of distinct nodes that an edge could join; if bipartite, one node on each side.

    The code of a pair (u, v) is u * nodes + v in the graph's internal order, with u < v if the
    graph is undirected. The internal order depends on the graph only, so codes and random samples
    of them are the same for every order of edges and nodes in the input.
    """

    graph: Graph

    @cached_property
    def edges(self) -> Codes:
        """The codes of all edges except loops, ascending."""
        first, second = self.entries[:2]
        edges: Codes = self.encode(first, second)[first != second]
        return edges

    @property
    def entries(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]:
        """Both ends of all edges, each edge once, and their weights."""
        graph = self.graph
        first = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(graph.indptr))
        if graph.directed:
            return first, graph.indices, graph.weights
        once = first <= graph.indices
        weights = None if graph.weights is None else graph.weights[once]
        return first[once], graph.indices[once], weights

    @cached_property
    def has_edge(self) -> NDArray[np.bool_]:
        """The mask of the nodes with an edge, in or out, other than a loop."""
        has_edge = np.zeros(self.graph.nodes, dtype=bool)
        for end in self.decode(self.edges):
            has_edge[end] = True
        return has_edge

    @cached_property
    def degrees(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number of edges of each node as the first and as the second node of a pair.

        These are the out-degree and the in-degree if the graph is directed, and the same otherwise.
        Loops and weights do not count: all edges are held out with the same probability.
        """
        first, second = (
            np.bincount(end, minlength=self.graph.nodes) for end in self.decode(self.edges)
        )
        return (first, second) if self.graph.directed else (first + second, first + second)

    def ends(self, sampling: Sampling = "uniform") -> tuple[Nodes, Nodes]:
        """The candidates for the first and the second node of a pair."""
        if sampling == "degree" and self.graph.directed:
            first, second = map(np.flatnonzero, self.degrees)
            return first, second
        nodes = np.flatnonzero(self.has_edge)
        if self.graph.is_target is None:
            return nodes, nodes
        is_target = self.graph.is_target[self.graph.rows][nodes]
        return nodes[~is_target], nodes[is_target]

    def count(self, sampling: Sampling = "uniform") -> int:
        """The number of pairs that can be drawn, including edges."""
        first, second = self.ends(sampling)
        if self.graph.is_target is not None:
            return len(first) * len(second)
        pairs = len(first) * len(second) - len(np.intersect1d(first, second))
        return pairs if self.graph.directed else pairs // 2

    def encode(self, first: NDArray[Any], second: NDArray[Any]) -> Codes:
        """Encode pairs of nodes."""
        if not self.graph.directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        codes: Codes = first.astype(np.int64) * self.graph.nodes + second
        return codes

    def decode(self, codes: Codes) -> tuple[Nodes, Nodes]:
        """Decode pairs of nodes."""
        first, second = np.divmod(codes, self.graph.nodes)
        return first, second

    def encode_ids(self, table: pa.Table) -> Codes:
        """Encode the columns source and target of ids. Raises UnknownNodeError."""
        return self.encode(*(self.find(table.column(end)) for end in ("source", "target")))

    def find(self, ids: Any) -> NDArray[np.int32]:
        """The nodes, in internal order, with the given ids. Raises UnknownNodeError."""
        import pyarrow.compute as pc

        graph_ids = self.graph.ids
        ids = ids_like(ids, graph_ids)
        if ids.type == graph_ids.type:
            rows = pc.index_in(ids, value_set=graph_ids)
        else:  # the ids are strings, those of the graph are integers
            rows = pa.nulls(len(ids), pa.int32())
        if rows.null_count:
            wrong = ids[rows.is_null().index(True).as_py()].as_py()
            raise UnknownNodeError(f"No node {wrong!r} among the {len(graph_ids):,} of the graph.")
        nodes: NDArray[np.int32] = self._node_of_row[rows.to_numpy()]
        return nodes

    @cached_property
    def _node_of_row(self) -> NDArray[np.int32]:
        """The node, in internal order, of each row of `ids`."""
        nodes = np.empty(self.graph.nodes, dtype=np.int32)
        nodes[self.graph.rows] = np.arange(self.graph.nodes, dtype=np.int32)
        return nodes

    def decode_ids(self, codes: Codes) -> pa.Table:
        """Decode pairs to ids, in the columns source and target."""
        ends = sources_first(self.graph, *self.decode(codes))
        rows = (self.graph.rows[nodes] for nodes in ends)
        source, target = (self.graph.ids.take(pa.array(row)) for row in rows)
        return pa.table({"source": source, "target": target})

    def sample_non_edges(
        self, count: int, taken: Codes, key: int, sampling: Sampling = "uniform"
    ) -> Codes:
        """Sample distinct pairs of nodes with edges that are not `taken`.

        A pair is drawn, without replacement, with the same probability as any other ("uniform") or
        in proportion to the product of the degrees of its nodes ("degree"). `taken` are ascending
        codes that include all edges; `key` seeds the sample. Linear in `count` and `len(taken)`,
        unless the nodes with most edges are nearly all connected.
        """
        free = self.count_free(taken, sampling)
        if count > free:
            raise ParameterError(
                f"{count:,} pairs that are not edges are needed, but only {free:,} of the "
                f"{self.count(sampling):,} pairs of {self._described(sampling)} are left. "
                + _fewer(sampling)
            )
        if self.count(sampling) <= DENSE * (len(taken) + count):
            others = np.setdiff1d(self._all(sampling), taken, assume_unique=True)
            return others[
                np.argsort(self._priorities(others, key, sampling), kind="stable")[:count]
            ]
        candidates = self._candidates(sampling)
        drawn, tried = np.empty(0, dtype=np.int64), 0
        while len(drawn) < count:
            if tried > max(MIN_DRAWS, MAX_DRAWS * count):
                raise ParameterError(
                    f"{tried:,} draws in proportion to degree gave only {len(drawn):,} of the "
                    f"{count:,} pairs that are not edges, because the nodes with most edges are "
                    "nearly all connected. " + _fewer(sampling)
                )
            draws_per_pair = tried / max(1, len(drawn)) if tried else 1
            batch = min(MAX_BATCH, 64 + int((count - len(drawn)) * 9 / 8 * draws_per_pair))
            drawn = np.concatenate([drawn, self._random(candidates, tried, batch, key)])
            tried += batch
            codes, first = np.unique(drawn, return_index=True)
            drawn = drawn[np.sort(first[~contains(taken, codes)])]  # in the order of the draws
        return drawn[:count]

    def count_free(self, taken: Codes, sampling: Sampling = "uniform") -> int:
        """The number of pairs that can be drawn and are not taken."""
        first, second = self.decode(taken)
        inside = self.has_edge[first] & self.has_edge[second]
        if sampling == "degree":
            inside = (self.degrees[0][first] > 0) & (self.degrees[1][second] > 0)
        return self.count(sampling) - int(np.count_nonzero(inside))

    def _all(self, sampling: Sampling) -> Codes:
        """All pairs that can be drawn, ascending."""
        sources, targets = self.ends(sampling)
        first, second = np.repeat(sources, len(targets)), np.tile(targets, len(sources))
        if self.graph.is_target is not None:
            return np.sort(self.encode(first, second))
        kept = first != second if self.graph.directed else first < second
        return self.encode(first[kept], second[kept])

    def _priorities(self, codes: Codes, key: int, sampling: Sampling) -> NDArray[Any]:
        """Random numbers, of which the smallest are a sample without replacement.

        Exponential random numbers, each divided by the weight of its pair, are in the order in
        which successive draws would find the pairs.
        """
        bits = hash_uint64(key, codes.astype(np.uint64))
        if sampling == "uniform":
            return bits
        first, second = self.decode(codes)
        weights = self.degrees[0][first].astype(np.float64) * self.degrees[1][second]
        uniform = ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
        priorities: NDArray[np.float64] = -np.log(uniform) / weights
        return priorities

    def _candidates(self, sampling: Sampling) -> tuple[Nodes, Nodes]:
        """The candidates for both nodes of a pair, each as often as its weight."""
        first, second = self.ends(sampling)
        if sampling == "uniform":
            return first, second
        return np.repeat(first, self.degrees[0][first]), np.repeat(second, self.degrees[1][second])

    def _random(self, candidates: tuple[Nodes, Nodes], start: int, count: int, key: int) -> Codes:
        """Draw `start` to `start + count` of an infinite sequence of pairs, without loops."""
        numbers = np.arange(start, start + count, dtype=np.uint64)
        first, second = (
            nodes[uniform_integers(len(nodes), hash_uint64(key, numbers, end))]
            for end, nodes in enumerate(candidates)
        )
        apart = first != second
        return self.encode(first[apart], second[apart])

    def _described(self, sampling: Sampling) -> str:
        """The nodes that are paired, in words."""
        if sampling == "degree" and self.graph.directed:
            return "a node with outgoing and a node with incoming edges"
        return "nodes"


def _fewer(sampling: Sampling) -> str:
    """Advice if there are not enough pairs."""
    if sampling == "uniform":
        return "Hold out fewer edges or use fewer negatives."
    return "Hold out fewer edges, use fewer negatives, or draw them uniformly: sampling='uniform'."


def ids_like(ids: Any, others: pa.Array) -> pa.Array:
    """Convert ids to the type of other ids if possible: 7 and "7" are the same node."""
    values = pa.array(as_ids(ids, "ids"))
    if pa.types.is_integer(others.type):
        values = parse_integer_ids(values)
    return values.cast(others.type) if pa.types.is_integer(values.type) else values


def contains(ascending: Codes, codes: Codes) -> NDArray[np.bool_]:
    """The mask of the codes that are in the array `ascending`."""
    if len(ascending) == 0:
        return np.zeros(len(codes), dtype=bool)
    index = np.searchsorted(ascending, codes)
    index[index == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[index] == codes
    return found
