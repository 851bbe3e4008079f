"""RandNE: iterative orthogonal random projection of powers of the adjacency matrix (ICDM 2018)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Annotated, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.orthogonal import BLOCK_ROWS, gram_matrix, mix, mixing_bytes, orthogonal_mixing
from hopvec.engine.plan import SlabPlan
from hopvec.engine.random_rows import GaussianRows
from hopvec.engine.slab import MAX_ORDER_ENTRY, Propagation, Slab, Transition
from hopvec.errors import GraphError
from hopvec.graph import Graph
from hopvec.graph.size import GraphSize
from hopvec.methods.fastrp import FastRP
from hopvec.methods.parameters import Integer, OneOf, Reals, documented
from hopvec.methods.slab_method import SlabMethod, nonzero_weights
from hopvec.progress import Progress, no_progress, stage

MAX_EXPONENT = 120  # of the entries of an order: float32 then holds sums of several orders


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class RandNE(SlabMethod):
    """Embed a graph by an orthogonal random projection of the powers of its matrix.

    RandNE (Zhang et al., ICDM 2018) sums powers of the adjacency matrix S:

        U = weights[0] R + weights[1] S R + ... + weights[q] S^q R

    The columns of R are normally distributed and then orthonormalized. Unlike in FastRP, the first
    weight belongs to R itself, order 0. The defaults are those of the authors' code for
    classification: three hops, and the transition matrix A instead of S.

    Examples
    --------
    >>> from hopvec import Graph, RandNE
    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> RandNE(dim=2, seed=7).embed(graph).vectors.shape
    (3, 2)
    """

    _isolated_advice: ClassVar[str] = "a nonzero first weight gives them one"

    dim: Annotated[int, Integer(1, 4096), "columns of the embedding (paper: d)"] = 128
    weights: Annotated[
        Sequence[float],
        Reals(32),
        "weights of the orders R, S R, S^2 R, ...; the first is that of R (paper: alpha_0, ...)",
    ] = (1.0, 1e2, 1e4, 1e5)
    matrix: Annotated[
        Literal["transition", "adjacency"],
        OneOf(("transition", "adjacency")),
        "'transition': powers of A = D^-1 S; 'adjacency': powers of S",
    ] = "transition"

    @property
    def _stages(self) -> Sequence[int]:
        """Orthogonalizing R, then Algorithm 1."""
        return (1, 1)

    def _propagation(
        self, graph: Graph, plan: SlabPlan, progress: Progress = no_progress
    ) -> Propagation:
        """Algorithm 1 for columns of R as drawn; multiplying by T at the end orthogonalizes R."""
        threads = plan.threads
        R = GaussianRows(seed=int(self.seed))  # noqa: N806
        S, growth = self._hops(graph)  # noqa: N806
        T = orthogonal_mixing(  # noqa: N806
            R, gram_matrix(R, graph.keys, int(self.dim), threads, stage(progress, 0, self._stages))
        )
        largest = np.full(graph.nodes, MAX_ORDER_ENTRY, dtype=np.float32)

        def algorithm_1(slab: Slab, orders: Collection[int]) -> None:
            q = max(orders)
            slab.start(R, largest)  # U_0 = R
            for i in range(1, q + 1):
                slab.hop(S, last=i == q)  # U_i = S U_(i-1)

        def mix_columns(rows: NDArray[np.float32]) -> None:
            mix(rows, T, threads)  # U = (alpha_0 U_0 + ... + alpha_q U_q) T

        return Propagation([S], algorithm_1, R.scale / MAX_ORDER_ENTRY, growth, mix_columns)

    def _hops(self, graph: Graph) -> tuple[Transition, float]:
        """The matrix divided by a power of two, so that its row sums are below 1, and it."""
        if self.matrix == "transition":
            return Transition(graph), 1.0
        degree = float(graph._node_degrees.max())
        exponent = math.frexp(degree)[1]
        alpha = self._order_weights()
        if any(i * exponent + math.log2(abs(alpha[i])) > MAX_EXPONENT for i in alpha):
            raise GraphError(
                f"RandNE: order {max(alpha)} of this adjacency matrix overflows float32, since its "
                f"largest degree is {degree:.3g}. Use matrix='transition', or smaller weights."
            )
        growth = math.ldexp(1.0, exponent)
        return Transition(graph, np.full(graph.nodes, 1 / growth)), growth

    def _order_weights(self) -> dict[int, float]:
        """The orders with a nonzero weight, and their weights."""
        weights = {order: float(weight) for order, weight in enumerate(self.weights)}
        return nonzero_weights(weights, "RandNE", "weights are all zero")

    def _extra_bytes(self, size: GraphSize) -> dict[str, int]:
        """The memory of orthogonalizing R."""
        return {"orthogonal columns": mixing_bytes(int(self.dim))}

    def _estimate_seconds(self, graph: Graph, plan: SlabPlan, progress: Progress) -> float:
        """The time of FastRP with a Gaussian projection, and of orthogonalizing R, by trials."""
        slabs = FastRP(
            dim=self.dim,
            weights=list(self.weights[1:]) or [0.0],
            self_weight=self.weights[0],
            beta=0.0,
            projection="gaussian",
            normalize="none",
            passes=1,
            precision=self.precision,
            threads=self.threads,
            memory=self.memory,
        )
        R, some = GaussianRows(seed=0), graph.keys[:BLOCK_ROWS]  # noqa: N806
        start = perf_counter()
        gram = gram_matrix(R, some, plan.dim, plan.threads, progress)
        drawn = perf_counter()
        T = orthogonal_mixing(R, gram)  # noqa: N806
        eliminated = perf_counter()
        mix(np.zeros((len(some), plan.dim), dtype=np.float32), T, plan.threads)
        by_rows = (drawn - start) + (perf_counter() - eliminated)
        orthogonal = by_rows * graph.nodes / len(some) + (eliminated - drawn)
        return slabs._estimate_seconds(graph, slabs.plan(graph), progress) + orthogonal
