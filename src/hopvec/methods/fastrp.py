"""FastRP: very sparse random projection of powers of the transition matrix (CIKM 2019)."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.features import FeatureRows
from hopvec.engine.finish import Finish
from hopvec.engine.fitted import FittedState
from hopvec.engine.normalize import NORMALIZATIONS
from hopvec.engine.random_rows import GaussianRows, SparseRows
from hopvec.engine.slab import Hops, Propagation, RandomRows, Slab
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.graph.features import Features
from hopvec.methods.directed_method import DirectedMethod
from hopvec.methods.parameters import Either, Integer, OneOf, Real, Reals, documented
from hopvec.methods.parities import check_parities
from hopvec.methods.presets import preset
from hopvec.methods.slab_method import nonzero_weights

WIDEST = 8192  # columns that principal components can be taken of: minutes for their eigenvectors


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class FastRP(DirectedMethod):
    """FastRP embeds a graph by sparse random projections: fast, and without training.

    The embedding is N = sum_i weights[i-1] * A^i L R, with A = D^-1 S, L = diag((d_j / 2m)^beta)
    and a very sparse random R. The defaults are for people who will not tune; `FastRP.paper()` is
    the paper to the letter.

    >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
    >>> FastRP(dim=8, seed=7).embed(graph).vectors.shape
    (3, 8)
    """

    takes_features: ClassVar = True
    zero_vectors: ClassVar = "self_weight with a small sparsity, such as 3, gives them one"
    zero_orders: ClassVar = (
        "a small sparsity, such as 3, or self_weight gives them one, and so may "
        "precision='float32' where it is float16"
    )
    space: ClassVar = {"beta": "-1:0", "weights": "0,0,1,log:0.125:64"}  # paper, section 4.3
    COMBINE_PARAMS: ClassVar = ("weights", "self_weight", "normalize", "spectrum")

    dim: Annotated[int, Integer(1, 65536), "columns of the embedding (paper: d)"] = 256
    weights: Annotated[
        Sequence[float],
        Reals(32),
        "weights of the orders N_1, N_2, ... (paper: alpha_1 .. alpha_k)",
    ] = (0.0, 0.0, 1.0, 1.0, 1.0, 1.0)
    beta: Annotated[
        float, Real(-1, 1), "power of the degrees in L; below 0 it holds hubs back (paper: beta)"
    ] = 0.25
    projection: Annotated[
        Literal["sparse", "gaussian"],
        OneOf(("sparse", "gaussian")),
        "entries of R: 'sparse': signs and zeros, as the paper; 'gaussian': the normal law",
    ] = "sparse"
    sparsity: Annotated[
        Literal["sqrt"] | float,
        Either(OneOf(("sqrt",)), Real(1, 1e12)),
        "s: one in s entries of R is not zero; 'sqrt' is the square root of the number of nodes",
    ] = "sqrt"
    self_weight: Annotated[
        float,
        Real(-1e6, 1e6),
        "weight of order 0, L R: with a small sparsity, it gives nodes without edges a vector",
    ] = 0.0
    feature_weight: Annotated[
        float,
        Real(0, 1e6),
        "weight of the features of nodes beside R: 1 makes both count alike, 0 leaves them out",
    ] = 1.0
    normalize: Annotated[
        Literal["none", "orders", "authors", "full"],
        OneOf(tuple(NORMALIZATIONS)),
        "'none': the plain sum of the paper; 'orders': unit rows of every order; 'authors': that, "
        "then standardized columns, as the authors' code; 'full': that, then unit rows",
    ] = "full"
    oversample: Annotated[
        int,
        Integer(1, 64),
        "computes so many times the columns, and keeps the dim of them in which vectors vary most",
    ] = 1
    spectrum: Annotated[
        float,
        Real(0, 2),
        "power of the deviations of the columns that oversample keeps: 1 as they are, 0 all alike",
    ] = 1.0

    @classmethod
    def preset(cls, name: str, **parameters: Any) -> Self:
        """The parameters that a preset names; those that are given here override them.

        `hopvec.methods.presets.PRESETS` has them all. Raises ParameterError for any other name.

        >>> FastRP.preset("best", dim=128)
        FastRP(dim=128, weights=(0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0), oversample=4)
        """
        return cls().set_params(**{**preset(name).parameters, **parameters})

    @classmethod
    def paper(cls, *, alpha_4: float = 4.0, beta: float = -0.75, seed: int = 0) -> Self:
        """The paper's setting: dim 512, weights (0, 0, 1, alpha_4), the plain sum (section 4.3).

        The paper tunes alpha_4 in [2^-3, 2^6] and beta in [-1, 0] for each graph.
        """
        return cls.preset("paper", weights=(0.0, 0.0, 1.0, alpha_4), beta=beta, seed=seed)

    def propagation_along(self, hops: Hops, like: FittedState | None = None) -> Propagation:
        """Algorithm 1, for a slab of columns; the orders are summed as they are made."""
        fitted_state = like or self.fitted_state(hops)
        graph = hops[0].graph
        R = self.random_rows(fitted_state, graph.features, graph.rows)  # noqa: N806
        degrees = [A.degrees for A in hops]
        powers, factor = degree_powers(degrees, self.beta, fitted_state.volume, R.max_abs)

        def algorithm_1(slab: Slab, orders: Collection[int]) -> None:
            A, (L, L_0), k = hops[slab.part], powers[slab.part], max(orders)  # noqa: N806
            if 0 in orders:
                slab.draw(R, L_0)  # order 0
            if k >= 1:
                slab.first_hop(A, R, L, last=k == 1)  # N_1 = A L R
            for i in range(2, k + 1):
                slab.hop(A, last=i == k)  # N_i = A N_(i-1)

        return Propagation(hops, algorithm_1, factor * R.scale, fitted_state=fitted_state)

    def fitted_state(self, hops: Hops) -> FittedState:
        """What another run must share with this one for its vectors to be comparable."""
        graph, known = hops[0].graph, hops[0].graph.features
        fitted_state = self.fitted_state_of(graph.nodes, hops[0].volume)
        return replace(fitted_state, features=known.columns) if known else fitted_state

    def fitted_state_of(self, nodes: int, volume: float) -> FittedState:
        """The same for a graph without features, of so many nodes and this sum of all entries."""
        s = math.sqrt(nodes) if self.sparsity == "sqrt" else float(self.sparsity)
        return FittedState(None if self.projection == "gaussian" else s, volume)

    def random_rows(
        self, fitted_state: FittedState, known: Features | None, rows: NDArray[np.int32]
    ) -> RandomRows:
        """R: all projections have entries of mean 0 and variance 1; features are added to it.

        Node i has the features of row rows[i].
        """
        R = self.plain_rows(fitted_state)  # noqa: N806
        if known is None or fitted_state.features is None:
            return R
        return FeatureRows(R, known, fitted_state.features, float(self.feature_weight), rows)

    def plain_rows(self, fitted_state: FittedState) -> SparseRows | GaussianRows:
        """R before any features are added to it."""
        seed, s = int(self.seed), fitted_state.sparsity
        return GaussianRows(seed) if s is None else SparseRows(seed, s)

    def validate_graph(self, graph: Any) -> Graph:
        """The Graph to embed; a weight of features that it has not is refused."""
        accepted = super().validate_graph(graph)
        self.check_feature_weight(accepted.features is not None)
        if accepted.is_target is not None:
            check_parities("FastRP", self.order_weights())
        return accepted

    def check_feature_weight(self, has_features: bool) -> None:
        """Raises ParameterError for a weight of features where a graph has none."""
        if not has_features and self.feature_weight != FastRP.feature_weight:
            raise ParameterError(
                f"FastRP: feature_weight is {self.feature_weight:g}, and the graph has no features."
                " Give some, embed(graph, features=...), or leave it out."
            )

    def check(self) -> None:
        """Raises ParameterError; a dense R has no sparsity."""
        super().check()
        if self.projection == "gaussian" and self.sparsity != "sqrt":
            raise ParameterError(
                f"FastRP: sparsity counts the zeros of projection='sparse', and 'gaussian' has "
                f"none, got {self.sparsity!r}. Leave one of the two out."
            )
        if self.oversample > 1 and self.width > WIDEST:
            raise ParameterError(
                f"FastRP: oversample times dim must be at most {WIDEST:,}, got {self.oversample} x "
                f"{self.dim:,} = {self.width:,}. Make one of them smaller."
            )

    @property
    def width(self) -> int:
        """The columns that are computed."""
        return int(self.oversample) * int(self.dim)

    @property
    def finish(self) -> Finish:
        """How the sum of the orders becomes vectors."""
        return Finish(NORMALIZATIONS[self.normalize], float(self.spectrum))

    def with_dim(self, columns: int) -> Self:
        """The same with so many columns, and no more to choose from."""
        return super().with_dim(columns).set_params(oversample=1)

    def order_weights(self) -> dict[int, float]:
        """The orders that count, with their weights: alpha_i, and self_weight for order 0."""
        weights = {0: float(self.self_weight)}
        weights |= {order: float(weight) for order, weight in enumerate(self.weights, start=1)}
        return nonzero_weights(
            weights, type(self).__name__, "weights are all zero and so is self_weight"
        )


Diagonals = tuple[NDArray[np.float32], NDArray[np.float32]]
"""L, and L for order 0."""


def degree_powers(
    every: Sequence[NDArray[np.float64]], beta: float, volume: float, max_abs: float = 1.0
) -> tuple[list[Diagonals], float]:
    """The diagonal of L for each of some arrays of degrees: (d_j / 2m)^beta (paper, Eq. 7).

    `volume` is 2m. All diagonals lack a common factor, which comes beside them: it holds (2m)^-beta
    and a power of two that keeps the largest entry just below 2^15, so that every order fits
    float16 where no entry of R is beyond `max_abs`. A node of degree 0 has 0 for beta < 0, where
    there is nothing to propagate, and counts as degree 1 in order 0.
    """
    powers = []
    for degrees in every:
        power_0 = _native.power(np.where(degrees > 0, degrees, 1.0), beta)
        powers.append((np.where(degrees > 0, power_0, 1.0 if beta == 0 else 0.0), power_0))
    largest = max(power_0.max() for _, power_0 in powers)
    scale = math.ldexp(1.0, 15 - int(np.frexp(largest * max_abs)[1]))
    power_of_volume = _native.power(np.array([volume or 1.0]), -beta)[0]
    diagonals = [
        ((power * scale).astype(np.float32), (power_0 * scale).astype(np.float32))
        for power, power_0 in powers
    ]
    return diagonals, float(power_of_volume) / scale
