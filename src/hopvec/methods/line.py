"""LINE: training on sampled edges, for neighbors and for shared neighbors (WWW 2015)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from hopvec.engine.fitted import Fitted
from hopvec.engine.line import EdgeSampler, Proximity, row_bytes, train
from hopvec.engine.plan import Bytes, Plan, plan_for
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import cores, memory_limit
from hopvec.methods.method import Method
from hopvec.methods.parameters import Either, Integer, OneOf, Real, documented
from hopvec.progress import Progress

ORDERS: dict[str, tuple[int, ...]] = {"first": (1,), "second": (2,), "both": (1, 2)}
ALIAS_BYTES = 8  # per entry of an alias table
TRIAL_WORK = 1 << 26  # samples times (columns + 100) of a trial run


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class LINE(Method):
    """Embed a graph by training on sampled edges, with negative sampling.

    LINE (Tang et al., WWW 2015) draws an edge (i, j), and nodes k in proportion to degree^0.75, and
    takes a gradient step on this objective, where s is the sigmoid:

        log s(u_i . v_j) + sum_k log s(-u_i . v_k)

    In the first order, v is u itself, so that neighbors become similar; directed edges count in
    both directions. In the second order, v_j is a separate context vector of j, so that nodes with
    the same neighbors become similar. The rows of each order are normalized and concatenated.

    Examples
    --------
    >>> from hopvec import LINE, Graph
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> LINE(dim=8, samples=1000, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    dim: Annotated[
        int, Integer(1, 65536), "columns of the embedding; with 'both', half of them for each order"
    ] = 200
    order: Annotated[
        Literal["first", "second", "both"],
        OneOf(("first", "second", "both")),
        "what makes nodes similar: 'first': an edge; 'second': the same neighbors; or 'both'",
    ] = "both"
    samples: Annotated[
        Literal["auto"] | int,
        Either(OneOf(("auto",)), Integer(1, 10**12)),
        "edges sampled for each order (paper: 10 billion); 'auto': 200 per entry of the adjacency "
        "matrix, but at least 1 million and at most 1 billion",
    ] = "auto"
    negatives: Annotated[int, Integer(1, 63), "random nodes per edge (paper: K)"] = 5
    learning_rate: Annotated[
        float,
        Real(1e-6, 1),
        "initial learning rate; it decreases linearly to a ten-thousandth of it (paper: rho)",
    ] = 0.025
    workers: Annotated[
        int,
        Integer(1, 1024),
        "threads that train an order; more than 1 is faster, but the results then differ from run "
        "to run",
    ] = 1

    def _check(self) -> None:
        """Raise ParameterError if a parameter, or a combination of parameters, is invalid."""
        super()._check()
        if self.order == "both" and self.dim % 2:
            raise ParameterError(
                f"{type(self).__name__}: dim must be even with order='both', since each order has "
                f"half of the columns, got {self.dim}."
            )

    def _compute(self, graph: Graph, plan: Plan, progress: Progress) -> Fitted:
        """The trained vectors, unit in each order; zero for nodes without an edge to train on."""
        max_workers = self._orders_at_once(plan)
        vectors = np.zeros((graph.nodes, int(self.dim)), np.float32)
        if graph.entries:
            orders = self._orders(graph, max_workers)
            train(orders, self._samples(graph), max_workers=max_workers, progress=progress)
            for i, order in enumerate(orders):
                columns = slice(i * order.columns, (i + 1) * order.columns)
                vectors[graph.rows, columns] = order.unit_vectors()
        return Fitted(vectors)

    def plan(self, graph: Graph) -> Plan:  # noqa: D102  (inherited)
        size = GraphSize.of(graph)
        return plan_for(
            size,
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=min(self.threads or cores(), len(ORDERS[self.order])) * int(self.workers),
            memory=memory_limit(self.memory),
            working=self._working(size),
        )

    def _min_memory(self, size: GraphSize) -> Bytes:
        return Bytes(size.resident, 4 * size.nodes * int(self.dim), self._working(size))

    def _working(self, size: GraphSize) -> dict[str, int]:
        weights = size.entries if size.weighted else 0
        return {
            "vectors in training": size.nodes * self._training_bytes(),
            "alias tables": ALIAS_BYTES * (2 * size.nodes + weights),
            "rows in a file": size.in_file * size.entry_bytes,  # accessed at random
        }

    def _estimate_seconds(self, graph: Graph, plan: Plan, progress: Progress) -> float:
        """The time of a run on this graph, extrapolated from training on a few samples."""
        if not graph.entries:
            return 0.0
        max_workers, samples = self._orders_at_once(plan), self._samples(graph)
        some = min(samples, max(1000, TRIAL_WORK // (int(self.dim) + 100)))
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
        """The columns per order."""
        return int(self.dim) // len(ORDERS[self.order])

    def _samples(self, graph: Graph) -> int:
        """The edges sampled for each order."""
        if self.samples == "auto":
            return min(max(200 * graph.entries, 10**6), 10**9)
        return int(self.samples)

    def _training_bytes(self) -> int:
        """The bytes per node in training: the second order has two vectors, for both roles."""
        return sum(ORDERS[self.order]) * row_bytes(self._columns())
