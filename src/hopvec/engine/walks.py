"""Random walks over a graph, in blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.graph import Graph
from hopvec.machine import interruptible, release_pages


@dataclass(frozen=True)
class Walks:
    """Walks of `length` nodes, `rounds` from every node with out-edges.

    A walk that came from t to v moves to x with probability proportional to S_vx / p if x is t, to
    S_vx if there is an edge from t to x, and to S_vx / q otherwise (node2vec, section 3.2). The
    first step, and every step for p = q = 1, has probability proportional to S_vx (DeepWalk).

    A walk is a pure function of the graph, the seed, the key of its first node and its round: it
    does not depend on the number of threads or the order of nodes.
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
        """Number of nodes that walks start from."""
        return self.graph._connected

    def blocks(self, size: int) -> Iterator[NDArray[np.int32]]:
        """Yield all walks, up to `size` at a time, as rows of node numbers: int32 [size][length].

        Each round visits the nodes in a different order. Rows are padded with -1 after a node
        without out-edges. Linear in the number of steps; a second-order step takes up to
        max(q, 1/q) trials on average, each with a binary search.
        """
        for round_ in range(self.rounds):
            order = _native.walk_order(self.graph.keys[: self.starts], self.seed, round_)
            for first in range(0, len(order), size):
                yield self._walks(round_, order[first : first + size])

    def _walks(self, round_: int, first: NDArray[np.int32]) -> NDArray[np.int32]:
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
                round_,
                self.length,
                self.threads,
                stop,
            )
        )
        return nodes.reshape(len(first), self.length)

    @cached_property
    def _cumulative(self) -> NDArray[np.float64] | None:
        """Cumulative weights within each row, [entries]; None if all weights are 1.

        A binary search takes about a third longer than a lookup in an alias table, but training
        takes twenty times as long as the walks, and sums are simpler.
        """
        indptr, weights = self.graph.indptr, self.graph.weights
        if weights is None:
            return None
        sums = interruptible(
            lambda stop: _native.cumulative_weights(indptr, weights, self.threads, stop)
        )
        release_pages(weights)
        return sums
