"""Random walks over a graph, a block at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.graph import Graph
from hopvec.machine import forget, interruptible


@dataclass(frozen=True)
class Walks:
    """Walks of `length` nodes, `rounds` of them from every node that has a row.

    A step goes from v, come to from t, to x with probability in proportion to S_vx / p if x is t,
    to S_vx if there is an edge from t to x, and to S_vx / q otherwise (node2vec, section 3.2). The
    first step, and every step for p = q = 1, is in proportion to S_vx (DeepWalk).

    A walk is a pure function of the graph, the seed, the key of its first node and its round: the
    same for any number of threads and any order of nodes.
    """

    graph: Graph
    rounds: int
    length: int
    p: float
    q: float
    seed: int
    threads: int

    def __len__(self) -> int:
        return self.rounds * self.starts

    @property
    def starts(self) -> int:
        """The number of nodes that walks start from."""
        return self.graph.connected

    def blocks(self, size: int) -> Iterator[NDArray[np.int32]]:
        """All walks, up to `size` at a time, as rows of node numbers: int32 [size][length].

        Rounds come one after the other, the nodes of each in an order of its own. A row is -1
        behind a node that no edge leaves. Linear in the steps; those of second order take up to
        max(q, 1/q) trials on average, with a binary search each.
        """
        for number in range(self.rounds):
            order = _native.walk_order(self.graph.keys[: self.starts], self.seed, number)
            for first in range(0, len(order), size):
                yield self._walks(number, order[first : first + size])

    def _walks(self, number: int, first: NDArray[np.int32]) -> NDArray[np.int32]:
        graph, cumulative = self.graph, self._cumulative
        nodes = interruptible(
            lambda stop: _native.random_walks(
                graph.indptr,
                graph.indices,
                cumulative,
                self.p,
                self.q,
                graph.keys,
                first,
                self.seed,
                number,
                self.length,
                self.threads,
                stop,
            )
        )
        return nodes.reshape(len(first), self.length)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64] | None:
        """[entries]: running sums of the weights of each row; None where all weights are 1.

        A search in them takes about a third longer than a look into an alias table of the same
        size, next to a training that takes twenty times as long; but sums are simpler to get right.
        """
        indptr, weights = self.graph.indptr, self.graph.weights
        if weights is None:
            return None
        sums = interruptible(
            lambda stop: _native.cumulative_weights(indptr, weights, self.threads, stop)
        )
        forget(weights)
        return sums
