"""The training of LINE: orders of proximity, each trained on edges drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.graph import Graph
from hopvec.machine import interruptible, run_all
from hopvec.progress import Progress

LANES = 16  # the kernels take rows of a multiple of 16 columns, of which the last may be zero
SEGMENT = 1 << 26  # samples times columns (and 100 more) between two reports of progress
NOISE = 0.75  # power of the degrees by which negative samples are drawn


class EdgeLaw:
    """How edges and negative samples are drawn: by weight, and by a power of the degrees.

    The degree of a node is the sum of the weights of its edges, whichever way they go.
    """

    def __init__(self, graph: Graph, threads: int) -> None:
        self.graph = graph
        degrees = graph.node_degrees
        if graph.directed:
            degrees = degrees + _native.column_sums(graph.indptr, graph.indices, graph.weights)
        self.joined = degrees > 0
        self.noise = np.where(
            self.joined, _native.power(np.where(self.joined, degrees, 1), NOISE), 0
        )
        self.native = interruptible(
            lambda stop: _native.EdgeSampler(
                graph.indptr,
                graph.indices,
                graph.weights,
                graph.node_degrees,
                self.noise,
                threads,
                stop,
            )
        )


class Proximity:
    """Vectors of one order of proximity, 1 or 2, and how far they are trained.

    In order 1 both ends of an edge are looked up in `vectors`, and the edges of a directed graph
    are taken in both directions; in order 2 the end of an edge is looked up in `contexts`.
    """

    def __init__(
        self,
        law: EdgeLaw,
        order: int,
        *,
        columns: int,
        samples: int,
        negatives: int,
        learning_rate: float,
        seed: int,
        workers: int,
    ) -> None:
        graph = law.graph
        self.columns, self.done = columns, 0
        self.segment = max(1, SEGMENT // (columns + 100))
        self._law, self._workers, self._lock = law, workers, Lock()
        self._order = _native.LineOrder(
            seed=seed,
            number=order,
            samples=samples,
            negatives=negatives,
            rate=learning_rate,
            both_directions=graph.directed and order == 1,
        )
        self.trained = law.joined if order == 1 else graph.node_degrees > 0
        self.vectors = _zero_rows(graph.nodes, columns)
        self.contexts = self.vectors if order == 1 else _zero_rows(graph.nodes, columns)
        _native.initialize_line(self._order, graph.keys, columns, self.vectors)

    def train(self, until: int, stop: _native.Stop) -> None:
        """Trains on the next samples, a segment of them at most, up to number `until`."""
        with self._lock:
            last = min(self.done + self.segment, until)
            _native.train_line(
                self._law.native,
                self._order,
                self.vectors,
                self.contexts,
                self.done,
                last,
                self._workers,
                stop,
            )
            self.done = last

    def unit_vectors(self) -> NDArray[np.float32]:
        """The vectors made unit, in the graph's internal order; zero for nodes never trained."""
        inverse = interruptible(lambda stop: _native.inverse_norms(self.vectors, 1, stop))
        inverse[~self.trained] = 0
        self.vectors *= inverse[:, None]
        return self.vectors[:, : self.columns]


def train(orders: Sequence[Proximity], samples: int, *, at_once: int, progress: Progress) -> None:
    """Trains every order up to so many samples, `at_once` of the orders at the same time.

    An order is trained by one thread at a time, so the threads have no part in the result.
    """
    segments = -(-samples // orders[0].segment)
    run_all(
        [partial(order.train, samples) for order in orders] * segments,
        at_once=min(at_once, len(orders)),
        done=lambda _: progress(sum(order.done for order in orders), len(orders) * samples),
    )


def row_bytes(columns: int) -> int:
    """The bytes of one vector in training."""
    return 4 * LANES * -(-columns // LANES)


def _zero_rows(nodes: int, columns: int) -> NDArray[np.float32]:
    return _native.allocate(nodes * row_bytes(columns)).view(np.float32).reshape(nodes, -1)
