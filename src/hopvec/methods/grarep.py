"""GraRep: a separate factorization for each number of steps of a walk (CIKM 2015)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from hopvec.engine.dense import (
    column_sums,
    left_factor,
    take_positive_logarithm,
    transition_powers,
)
from hopvec.engine.fitted import Fitted
from hopvec.engine.plan import Plan
from hopvec.engine.spectral import expected_blocks
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.methods.dense_method import DenseMethod, Work
from hopvec.methods.parameters import Integer, documented
from hopvec.progress import Progress, stage


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class GraRep(DenseMethod):
    """Embed a graph by factorizing the transition probabilities of 1, 2, ... steps separately.

    GraRep (Cao et al., CIKM 2015) factorizes one matrix for each number of steps k, with
    A = D^-1 S and n nodes:

        X_ij = max(0, log(A^k_ij / sum_i A^k_ij) - log(1 / n))

    The vectors concatenate dim / steps columns U Sigma^(1/2) of its largest singular values for
    each step. X is dense, n x n in float32, one step at a time: 400 MB for 10,000 nodes.

    Examples
    --------
    >>> from hopvec import Graph, GraRep
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> GraRep(dim=4, steps=2).embed(graph).vectors.shape
    (3, 4)
    """

    steps: Annotated[
        int, Integer(1, 100), "maximum steps of a walk; each has dim / steps columns (paper: K)"
    ] = 4

    def _check(self) -> None:
        """Raise ParameterError if a parameter is invalid or steps does not divide dim."""
        super()._check()
        if self.dim % self.steps:
            raise ParameterError(
                f"GraRep: dim must be a multiple of steps, got dim {self.dim} and steps "
                f"{self.steps}. The nearest valid dim is {self._nearest_dim()}."
            )

    def _compute(self, graph: Graph, plan: Plan, progress: Progress) -> Fitted:
        """The factors of all steps, concatenated."""
        threads = plan.threads
        vectors = np.empty((graph.nodes, int(self.dim)), dtype=np.float32)
        for step in range(self.steps):
            powers, factors = (
                stage(progress, 2 * step + k, [1] * (2 * self.steps)) for k in (0, 1)
            )
            X = transition_powers(graph, [step + 1], threads, powers, columns=graph.nodes)  # noqa: N806
            reached = column_sums(X, threads)
            scale = np.divide(graph.nodes, reached, out=np.zeros_like(reached), where=reached > 0)
            take_positive_logarithm(X, scale, threads)
            columns = slice(step * self._eigenpairs, (step + 1) * self._eigenpairs)
            vectors[graph.rows, columns] = left_factor(
                X,
                self._eigenpairs,
                graph,
                symmetric=False,
                seed=int(self.seed),
                threads=threads,
                progress=factors,
            )
        return Fitted(vectors)

    @property
    def _eigenpairs(self) -> int:
        """The columns of a step."""
        return int(self.dim) // int(self.steps)

    def _work(self) -> Work:
        """The hops and products of a run."""
        hops = self.steps * (self.steps + 1) // 2
        return Work(hops, 2 * self.steps * expected_blocks(self._eigenpairs))

    def _nearest_dim(self) -> int:
        return max(1, round(self.dim / self.steps)) * self.steps
