"""NetMF: explicit factorization of the matrix that DeepWalk factorizes implicitly (WSDM 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from hopvec.engine.dense import (
    Dense,
    filtered_adjacency,
    left_factor,
    take_positive_logarithm,
    transition_powers,
)
from hopvec.engine.fitted import Fitted
from hopvec.engine.plan import Plan
from hopvec.engine.spectral import BLOCK_COLUMNS, Floats, expected_blocks
from hopvec.graph import Graph
from hopvec.methods.dense_method import DenseMethod, Work
from hopvec.methods.parameters import Either, Integer, OneOf, Real, documented
from hopvec.progress import Progress, stage


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class NetMF(DenseMethod):
    """Embed a graph by factorizing the matrix that DeepWalk approximates by random walks.

    NetMF (Qiu et al., WSDM 2018) factorizes this matrix, with P = D^-1 S, window T, b negative
    samples and vol the sum of all entries of S:

        M = log max(1, vol / (b T) (P + P^2 + ... + P^T) D^-1)

    The vectors are U Sigma^(1/2) of its `dim` largest singular values. With `rank`, the powers are
    approximated. M is dense, n x n in float32: 400 MB for 10,000 nodes.

    Examples
    --------
    >>> from hopvec import Graph, NetMF
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> NetMF(dim=2).embed(graph).vectors.shape
    (3, 2)
    """

    _supports_directed: ClassVar[bool] = False

    window: Annotated[int, Integer(1, 1000), "steps of a walk that count as context (paper: T)"] = (
        10
    )
    negatives: Annotated[
        float,
        Real(1e-3, 1e3),
        "negative samples per pair; a small number keeps more pairs (paper: b)",
    ] = 1.0
    rank: Annotated[
        int | None,
        Either(Integer(1, 65536), OneOf((None,))),
        "eigenpairs that approximate the powers (paper: h); by default, the powers are exact",
    ] = None

    def _compute(self, graph: Graph, plan: Plan, progress: Progress) -> Fitted:
        """U Sigma^(1/2) of M."""
        threads = plan.threads
        M = self._pairs(graph, threads, stage(progress, 0, (1, 1)))  # noqa: N806
        vectors = np.empty((graph.nodes, int(self.dim)), dtype=np.float32)
        vectors[graph.rows] = left_factor(
            M,
            int(self.dim),
            graph,
            symmetric=True,
            seed=int(self.seed),
            threads=threads,
            progress=stage(progress, 1, (1, 1)),
        )
        return Fitted(vectors)

    def _pairs(self, graph: Graph, threads: int, progress: Progress) -> Dense:
        """M."""
        if self.rank is None:
            matrix = transition_powers(
                graph, range(1, self.window + 1), threads, progress, columns=graph.nodes
            )
            degrees = graph._node_degrees
            inverse = np.divide(1.0, degrees, out=np.zeros(len(degrees)), where=degrees > 0)
            factors = graph.volume / (self.negatives * self.window) * inverse
        else:
            matrix = filtered_adjacency(
                graph,
                int(self.rank),
                self._filter,
                seed=int(self.seed),
                threads=threads,
                progress=progress,
            )
            factors = np.full(graph.nodes, graph.volume / (self.negatives * self.window))
        take_positive_logarithm(matrix, factors, threads)
        return matrix

    def _filter(self, values: Floats) -> Floats:
        """The sum of the first `window` powers of each value."""
        total = np.zeros_like(values)
        for _ in range(self.window):
            total = (total + 1.0) * values
        return total

    @property
    def _eigenpairs(self) -> int:
        """The maximum number of eigenpairs computed at a time."""
        return max(int(self.dim), int(self.rank or 0))

    def _work(self) -> Work:
        """The hops and products of a run."""
        products = expected_blocks(int(self.dim))
        if self.rank is None:
            return Work(int(self.window), products)
        return Work(0, products + int(self.rank) // BLOCK_COLUMNS)
