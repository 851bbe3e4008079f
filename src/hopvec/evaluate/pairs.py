"""Pairs of nodes as whole numbers: those that are edges of a graph, and others, drawn by a seed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.errors import ParameterError, UnknownNodeError
from hopvec.evaluate.hashing import hash_uint64, uniform_integers
from hopvec.graph import Graph
from hopvec.graph.bipartite import sources_first
from hopvec.graph.id_encoder import parse_integer_ids
from hopvec.graph.ids import as_ids

DENSE = 4  # where fewer than one pair in so many is free or drawn, all pairs are listed

Codes = NDArray[np.int64]
Nodes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Pairs:
    """The pairs of distinct nodes that an edge of a graph could join; if it has sides, of both.

    A pair (u, v) has the code u * nodes + v in the graph's internal order, which depends on the
    graph alone; where the graph is undirected, u < v. So codes, and whatever is drawn of them, are
    the same for every order of edges and nodes in the input.
    """

    graph: Graph

    @cached_property
    def edges(self) -> Codes:
        """The codes of all edges but loops, ascending."""
        first, second = self.entries[:2]
        edges: Codes = self.encode(first, second)[first != second]
        return edges

    @property
    def entries(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32] | None]:
        """Both ends of all edges, each edge once, and the weights."""
        graph = self.graph
        first = np.repeat(np.arange(graph.nodes, dtype=np.int32), np.diff(graph.indptr))
        if graph.directed:
            return first, graph.indices, graph.weights
        once = first <= graph.indices
        weights = None if graph.weights is None else graph.weights[once]
        return first[once], graph.indices[once], weights

    @cached_property
    def has_edge(self) -> NDArray[np.bool_]:
        """Whether a node has an edge, be it in or out, with another one."""
        joined = np.zeros(self.graph.nodes, dtype=bool)
        for end in self.decode(self.edges):
            joined[end] = True
        return joined

    @cached_property
    def nodes(self) -> Nodes:
        """The nodes that have an edge with another one."""
        return np.flatnonzero(self.has_edge)

    @cached_property
    def ends(self) -> tuple[Nodes, Nodes]:
        """The nodes that either end of a pair can be: all such nodes, or those of its side."""
        if self.graph.is_target is None:
            return self.nodes, self.nodes
        is_target = self.graph.is_target[self.graph.rows][self.nodes]
        return self.nodes[~is_target], self.nodes[is_target]

    @property
    def count(self) -> int:
        """The number of pairs of such nodes."""
        first, second = map(len, self.ends)
        if self.graph.is_target is not None:
            return first * second
        return first * (second - 1) // (1 if self.graph.directed else 2)

    def encode(self, first: NDArray[Any], second: NDArray[Any]) -> Codes:
        """The codes of pairs of nodes."""
        if not self.graph.directed:
            first, second = np.minimum(first, second), np.maximum(first, second)
        codes: Codes = first.astype(np.int64) * self.graph.nodes + second
        return codes

    def decode(self, codes: Codes) -> tuple[Nodes, Nodes]:
        """The nodes of pairs."""
        first, second = np.divmod(codes, self.graph.nodes)
        return first, second

    def encode_ids(self, table: pa.Table) -> Codes:
        """The codes of pairs of ids, the columns source and target. Raises UnknownNodeError."""
        return self.encode(*(self.find(table.column(end)) for end in ("source", "target")))

    def find(self, ids: Any) -> NDArray[np.int32]:
        """The nodes of ids, in the graph's internal order. Raises UnknownNodeError."""
        import pyarrow.compute as pc

        known = self.graph.ids
        ids = ids_like(ids, known)
        if ids.type == known.type:
            rows = pc.index_in(ids, value_set=known)
        else:  # texts, and the others are integers
            rows = pa.nulls(len(ids), pa.int32())
        if rows.null_count:
            wrong = ids[rows.is_null().index(True).as_py()].as_py()
            raise UnknownNodeError(f"No node {wrong!r} among the {len(known):,} of the graph.")
        nodes: NDArray[np.int32] = self._numbers[rows.to_numpy()]
        return nodes

    @cached_property
    def _numbers(self) -> NDArray[np.int32]:
        """The node of each row of `ids`."""
        numbers = np.empty(self.graph.nodes, dtype=np.int32)
        numbers[self.graph.rows] = np.arange(self.graph.nodes, dtype=np.int32)
        return numbers

    def decode_ids(self, codes: Codes) -> pa.Table:
        """The ids of pairs, in the columns source and target."""
        ends = sources_first(self.graph, *self.decode(codes))
        rows = (self.graph.rows[nodes] for nodes in ends)
        source, target = (self.graph.ids.take(pa.array(row)) for row in rows)
        return pa.table({"source": source, "target": target})

    def sample_non_edges(self, count: int, taken: Codes, key: int) -> Codes:
        """So many distinct pairs of such nodes, drawn uniformly, none of them `taken`.

        `taken` are ascending codes, all edges among them; `key` decides the draws. Linear in both.
        """
        free = self.free(taken)
        if count > free:
            raise ParameterError(
                f"{count:,} pairs that are no edges are wanted, but of the {self.count:,} pairs of "
                f"nodes only {free:,} are left. Ask for fewer negatives or fewer edges."
            )
        if self.count <= DENSE * (len(taken) + count):
            others = np.setdiff1d(self._all(), taken, assume_unique=True)
            order = np.argsort(hash_uint64(key, others.astype(np.uint64)), kind="stable")
            return others[order[:count]]
        drawn, tried = np.empty(0, dtype=np.int64), 0
        while len(drawn) < count:
            batch = 64 + (count - len(drawn)) * 9 // 8
            drawn = np.concatenate([drawn, self._random(tried, batch, key)])
            tried += batch
            codes, place = np.unique(drawn, return_index=True)
            drawn = drawn[np.sort(place[~contains(taken, codes)])]  # in the order they came
        return drawn[:count]

    def free(self, taken: Codes) -> int:
        """The number of pairs of such nodes, without those that are taken."""
        first, second = self.decode(taken)
        return self.count - int(np.count_nonzero(self.has_edge[first] & self.has_edge[second]))

    def _all(self) -> Codes:
        """Every pair, ascending."""
        one, other = self.ends
        first, second = np.repeat(one, len(other)), np.tile(other, len(one))
        if self.graph.is_target is not None:
            return np.sort(self.encode(first, second))
        kept = first != second if self.graph.directed else first < second
        return self.encode(first[kept], second[kept])

    def _random(self, start: int, count: int, key: int) -> Codes:
        """Draws number start to start + count of an endless sequence of pairs, without loops."""
        numbers = np.arange(start, start + count, dtype=np.uint64)
        first, second = (
            nodes[uniform_integers(len(nodes), hash_uint64(key, numbers, end))]
            for end, nodes in enumerate(self.ends)
        )
        apart = first != second
        return self.encode(first[apart], second[apart])


def ids_like(ids: Any, others: pa.Array) -> pa.Array:
    """A column of ids, of the type of other ids where it can be: 7 and "7" are the same node."""
    values = pa.array(as_ids(ids, "ids"))
    if pa.types.is_integer(others.type):
        values = parse_integer_ids(values)
    return values.cast(others.type) if pa.types.is_integer(values.type) else values


def contains(ascending: Codes, codes: Codes) -> NDArray[np.bool_]:
    """Which codes are among those in ascending order."""
    if len(ascending) == 0:
        return np.zeros(len(codes), dtype=bool)
    place = np.searchsorted(ascending, codes)
    place[place == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[place] == codes
    return found
