"""Training of LINE: each order of proximity is trained on randomly sampled edges."""

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

LANES = 16  # rows are padded to a multiple of 16 columns for the kernels
SEGMENT = 1 << 26  # samples times (columns + 100) between two calls of `progress`
NOISE_EXPONENT = 0.75  # negative samples are drawn in proportion to this power of the degrees


class EdgeSampler:
    """Samples edges by weight and negative samples by a power of the degrees.

    The degree of a node is the sum of the weights of its edges in both directions.
    """

    def __init__(self, graph: Graph, threads: int) -> None:
        self.graph = graph
        degrees = graph._node_degrees
        if graph.directed:
            degrees = degrees + _native.column_sums(graph.indptr, graph.indices, graph.weights)
        self.has_edges: NDArray[np.bool_] = degrees > 0
        self.noise: NDArray[np.float64] = np.where(
            self.has_edges, _native.power(np.where(self.has_edges, degrees, 1), NOISE_EXPONENT), 0
        )
        self.native: _native.EdgeSampler = interruptible(
            lambda stop: _native.EdgeSampler(
                graph.indptr,
                graph.indices,
                graph.weights,
                graph._node_degrees,
                self.noise,
                threads,
                stop,
            )
        )


class Proximity:
    """Vectors of one order of proximity, 1 or 2, and the state of their training.

    In order 1, both ends of an edge use `vectors`, and the edges of a directed graph are sampled in
    both directions. In order 2, the target of an edge uses `contexts`.
    """

    def __init__(
        self,
        sampler: EdgeSampler,
        order: int,
        *,
        columns: int,
        samples: int,
        negatives: int,
        learning_rate: float,
        seed: int,
        workers: int,
    ) -> None:
        graph = sampler.graph
        self.columns: int = columns
        self.done: int = 0
        self.segment: int = max(1, SEGMENT // (columns + 100))
        self._sampler, self._workers, self._lock = sampler, workers, Lock()
        self._order = _native.LineOrder(
            seed=seed,
            number=order,
            samples=samples,
            negatives=negatives,
            rate=learning_rate,
            both_directions=graph.directed and order == 1,
        )
        self.trained: NDArray[np.bool_] = (
            sampler.has_edges if order == 1 else graph._node_degrees > 0
        )
        self.vectors: NDArray[np.float32] = _zero_rows(graph.nodes, columns)
        self.contexts: NDArray[np.float32] = (
            self.vectors if order == 1 else _zero_rows(graph.nodes, columns)
        )
        _native.initialize_line(self._order, graph.keys, columns, self.vectors)

    def train(self, until: int, stop: _native.Stop) -> None:
        """Train on the next samples, at most one segment, up to sample number `until`."""
        with self._lock:
            last = min(self.done + self.segment, until)
            _native.train_line(
                self._sampler.native,
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
        """Return the unit vectors in the graph's internal order; zero for nodes never trained."""
        inverse = interruptible(lambda stop: _native.inverse_norms(self.vectors, 1, stop))
        inverse[~self.trained] = 0
        self.vectors *= inverse[:, None]
        return self.vectors[:, : self.columns]


def train(
    orders: Sequence[Proximity], samples: int, *, max_workers: int, progress: Progress
) -> None:
    """Train every order on `samples` samples, `max_workers` orders at a time.

    An order is trained by one thread at a time, so the result does not depend on the threads.
    """
    segments = -(-samples // orders[0].segment)
    run_all(
        [partial(order.train, samples) for order in orders] * segments,
        max_workers=min(max_workers, len(orders)),
        done=lambda _: progress(sum(order.done for order in orders), len(orders) * samples),
    )


def row_bytes(columns: int) -> int:
    """Return the bytes of one vector during training."""
    return 4 * LANES * -(-columns // LANES)


def _zero_rows(nodes: int, columns: int) -> NDArray[np.float32]:
    return _native.allocate(nodes * row_bytes(columns)).view(np.float32).reshape(nodes, -1)
