"""DenseMethod: the base class of methods that factorize a matrix of all pairs of nodes."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hopvec import _native
from hopvec.engine.dense import transition_powers
from hopvec.engine.plan import Bytes, Plan, plan_for
from hopvec.engine.spectral import BLOCK_COLUMNS, basis_bytes
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.machine import interruptible, memory_limit
from hopvec.methods.method import Method
from hopvec.progress import Progress

TRIAL_HOPS = 4


class Work(NamedTuple):
    """The number of passes of a run over the matrix of all pairs."""

    hops: int
    """Hops of all columns of the identity matrix."""
    products: int
    """Products of the matrix with 16 columns."""


@dataclass(kw_only=True, eq=False, repr=False)
class DenseMethod(Method):
    """A method that factorizes a dense matrix of all pairs of nodes, exactly.

    The graph determines the vectors. The seed only starts the iteration that converges to them,
    and so changes their last digits at most.
    """

    @property
    @abstractmethod
    def _eigenpairs(self) -> int:
        """The maximum number of eigenpairs computed at a time."""

    @abstractmethod
    def _work(self) -> Work:
        """The hops and products of a run, which determine its time."""

    def plan(self, graph: Graph) -> Plan:  # noqa: D102  (inherited)
        return plan_for(
            GraphSize.of(graph),
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=self.threads,
            memory=memory_limit(self.memory),
            working=self._working(graph.nodes),
        )

    def _min_memory(self, size: GraphSize) -> Bytes:
        return Bytes(size.resident, 4 * size.nodes * int(self.dim), self._working(size.nodes))

    def _working(self, nodes: int) -> dict[str, int]:
        return {
            "the matrix of all pairs of nodes": 4 * nodes * nodes,
            "its eigenvectors": basis_bytes(nodes, self._eigenpairs),
        }

    def _estimate_seconds(self, graph: Graph, plan: Plan, progress: Progress) -> float:
        """The time of a run, from a trial with the first columns of the matrix."""
        threads = plan.threads
        columns = min(graph.nodes, 2 * BLOCK_COLUMNS * threads)
        start = time.perf_counter()
        matrix = transition_powers(graph, [TRIAL_HOPS], threads, progress, columns=columns)
        hop = (time.perf_counter() - start) / TRIAL_HOPS
        block = np.ones((columns, BLOCK_COLUMNS))
        start = time.perf_counter()
        interruptible(lambda stop: _native.product(matrix, block, False, threads, stop))
        product = time.perf_counter() - start
        work = self._work()
        return (work.hops * hop + work.products * product) * graph.nodes / columns
