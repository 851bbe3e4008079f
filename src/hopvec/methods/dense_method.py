"""DenseMethod: what the methods that factorize a matrix of all pairs of nodes have in common."""

from __future__ import annotations

import time
from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hopvec import _native
from hopvec.engine.dense import transition_powers
from hopvec.engine.plan import Plan, plan_for
from hopvec.engine.spectral import COLUMNS, basis_bytes
from hopvec.graph import Graph
from hopvec.machine import interruptible, memory_limit
from hopvec.methods.method import Method
from hopvec.progress import Progress

TRIAL_HOPS = 4


class Work(NamedTuple):
    """How often a run goes through the matrix of all pairs."""

    hops: int
    """Of all columns of the identity matrix."""
    products: int
    """Of the matrix with 16 columns."""


@dataclass(kw_only=True, eq=False, repr=False)
class DenseMethod(Method):
    """A method that factorizes a dense matrix of all pairs of nodes, exactly.

    The vectors are defined by the graph; the seed starts an iteration that ends at them, and so
    changes their last digits only.
    """

    @property
    @abstractmethod
    def eigenpairs(self) -> int:
        """The most eigenpairs that are computed at a time."""

    @abstractmethod
    def work(self) -> Work:
        """The hops and products of a run: what its time grows with."""

    def plan(self, graph: Graph) -> Plan:
        """How a run on this graph will use threads and memory."""
        return plan_for(
            graph,
            owner=type(self).__name__,
            dim=int(self.dim),
            threads=self.threads,
            memory=memory_limit(self.memory),
            working=self._working(graph.nodes),
        )

    def working_bytes(self, nodes: int, rows: int = 0) -> int:
        """The least memory that a run takes beside a graph of so many nodes and bytes of rows."""
        return sum(self._working(nodes).values()) + 4 * nodes * int(self.dim)

    def _working(self, nodes: int) -> dict[str, int]:
        return {
            "the matrix of all pairs of nodes": 4 * nodes * nodes,
            "its eigenvectors": basis_bytes(nodes, self.eigenpairs),
        }

    def estimate_seconds(self, graph: Graph, progress: Progress) -> float:
        """The time of a run, by a trial with the first columns of the matrix."""
        threads = self.plan(graph).threads
        columns = min(graph.nodes, 2 * COLUMNS * threads)
        start = time.perf_counter()
        matrix = transition_powers(graph, [TRIAL_HOPS], threads, progress, columns=columns)
        hop = (time.perf_counter() - start) / TRIAL_HOPS
        block = np.ones((columns, COLUMNS))
        start = time.perf_counter()
        interruptible(lambda stop: _native.product(matrix, block, False, threads, stop))
        product = time.perf_counter() - start
        work = self.work()
        return (work.hops * hop + work.products * product) * graph.nodes / columns
