"""LINE: training on edges drawn at random, for neighbors and for shared neighbors (WWW 2015)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.line import EdgeSampler, Proximity, row_bytes, train
from hopvec.engine.plan import Plan, plan_for
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.machine import cores, memory_limit
from hopvec.methods.method import Method
from hopvec.methods.parameters import Either, Integer, OneOf, Real, documented
from hopvec.progress import Progress

ORDERS = {"first": (1,), "second": (2,), "both": (1, 2)}
PLACE = 8  # bytes of a place in an alias table
TRIAL = 1 << 26  # samples times columns (and 100 more) of a trial for the time of a run


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LINE(Method):
    """LINE trains vectors on edges drawn at random, each told from a few random nodes.

    A step takes an edge (i, j) and nodes k drawn by degree^0.75, and ascends
    log s(u_i . v_j) + sum_k log s(-u_i . v_k), with s the sigmoid. In the first order v is u
    itself, so that neighbors become similar, and directed edges are taken in both directions. In
    the second order v_j is what j is as a neighbor, so that nodes with the same neighbors
    become similar. The rows of each order are made unit and joined side by side.

    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> LINE(dim=8, samples=1000, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    dim: Annotated[
        int, Integer(1, 65536), "columns of the embedding; 'both' has half of them from each order"
    ] = 200
    order: Annotated[
        Literal["first", "second", "both"],
        OneOf(("first", "second", "both")),
        "what makes nodes similar: 'first', an edge; 'second', the same neighbors; or 'both'",
    ] = "both"
    samples: Annotated[
        Literal["auto"] | int,
        Either(OneOf(("auto",)), Integer(1, 10**12)),
        "edges to train on in each order (paper: 10 billion); 'auto': 200 for every entry of the "
        "adjacency matrix, but from 1 million to 1 billion",
    ] = "auto"
    negatives: Annotated[int, Integer(1, 63), "random nodes for every edge (paper: K)"] = 5
    learning_rate: Annotated[
        float,
        Real(1e-6, 1),
        "size of the first steps; it falls linearly to a ten-thousandth (paper: rho)",
    ] = 0.025
    workers: Annotated[
        int,
        Integer(1, 1024),
        "threads that train an order; with more than 1 it is faster, and every run gives other "
        "bytes",
    ] = 1

    def check(self) -> None:
        """Raises ParameterError; two orders share the columns evenly."""
        super().check()
        if self.order == "both" and self.dim % 2:
            raise ParameterError(
                f"{type(self).__name__}: dim must be even where order is 'both' and each order "
                f"has half of the columns, got {self.dim}."
            )

    def vectors(self, graph: Graph, progress: Progress) -> NDArray[np.float32]:
        """The trained vectors, unit in each order; zero where there is no edge to train on."""
        max_workers = self._orders_at_once(self.plan(graph))
        vectors = np.zeros((graph.nodes, int(self.dim)), np.float32)
        if graph.entries:
            orders = self._orders(graph, max_workers)
            train(orders, self._samples(graph), max_workers=max_workers, progress=progress)
            for place, order in enumerate(orders):
                columns = slice(place * order.columns, (place + 1) * order.columns)
                vectors[graph.rows, columns] = order.unit_vectors()
        return vectors

    def plan(self, graph: Graph) -> Plan:
        """How a run on this graph will use threads and memory."""
        weights = 0 if graph.weights is None else graph.entries
        rows = graph.nbytes - graph.indptr.nbytes if graph.mapped else 0
        return plan_for(
            graph,
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=min(self.threads or cores(), len(ORDERS[self.order])) * int(self.workers),
            memory=memory_limit(self.memory),
            working={
                "vectors in training": graph.nodes * self._training_bytes(),
                "alias tables": PLACE * (2 * graph.nodes + weights),
                "rows in a file": rows,  # read all over
            },
        )

    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""
        return nodes * (4 * int(self.dim) + self._training_bytes() + 2 * PLACE)

    def estimate_seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run on this graph, from training on a few of the samples."""
        if not graph.entries:
            return 0.0
        max_workers, samples = self._orders_at_once(self.plan(graph)), self._samples(graph)
        some = min(samples, max(1000, TRIAL // (int(self.dim) + 100)))
        times = [time.perf_counter()]
        orders = self._orders(graph, max_workers)
        times.append(time.perf_counter())
        train(orders, some, max_workers=max_workers, progress=progress)
        times.append(time.perf_counter())
        return times[1] - times[0] + (times[2] - times[1]) * samples / some

    def _orders_at_once(self, plan: Plan) -> int:
        return plan.threads // int(self.workers)

    def _orders(self, graph: Graph, threads: int) -> list[Proximity]:
        """The orders before training."""
        sampler = EdgeSampler(graph, threads)
        return [
            Proximity(
                sampler,
                order,
                columns=self._columns(),
                samples=self._samples(graph),
                negatives=int(self.negatives),
                learning_rate=float(self.learning_rate),
                seed=int(self.seed),
                workers=int(self.workers),
            )
            for order in ORDERS[self.order]
        ]

    def _columns(self) -> int:
        """The columns of one order."""
        return int(self.dim) // len(ORDERS[self.order])

    def _samples(self, graph: Graph) -> int:
        """The edges to train on in each order."""
        if self.samples == "auto":
            return min(max(200 * graph.entries, 10**6), 10**9)
        return int(self.samples)

    def _training_bytes(self) -> int:
        """The bytes of one node in training: two vectors in the second order, for its two roles."""
        return sum(ORDERS[self.order]) * row_bytes(self._columns())
