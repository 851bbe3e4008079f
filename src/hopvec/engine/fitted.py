"""What a run fits to its graph: the vectors, and the state that later runs need to match them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from hopvec.engine.normalize import ColumnScaler
from hopvec.engine.principal import Components
from hopvec.graph.features import FeatureColumns


@dataclass(frozen=True)
class FittedStatistics:
    """Statistics of the weighted sum of a run. Runs that reuse them make comparable vectors."""

    columns: ColumnScaler | None = None
    """Standardizes the columns of the sum; None if they are not standardized."""
    components: Components | None = None
    """Projects the normalized sum; None if it has no more columns than the vectors."""
    degree_factors: NDArray[np.float64] | None = None
    """Factors of the logarithms of degrees, one per column; None without such columns."""


@dataclass(frozen=True)
class FittedState:
    """What a run learned from its graph, besides the vectors.

    Vectors of another graph are comparable with those of the run, entry by entry, if they are
    computed with the same parameters and the same fitted state.
    """

    sparsity: float | None
    """s of R as a number; None if R is dense."""
    volume: float
    """2m in L = diag((d_j / 2m)^beta)."""
    refine_weights: tuple[float, ...] = ()
    """The weights of the orders 1, 2, ... in all passes but the last; none if there is one pass."""
    features: FeatureColumns | None = None
    """The feature columns, with the mean and deviation of the numeric ones."""
    statistics: FittedStatistics = field(default_factory=FittedStatistics)
    """Those of the last pass."""
    earlier_passes: tuple[FittedStatistics, ...] = ()
    """Those of the passes before it."""


@dataclass(frozen=True)
class Fitted:
    """The result of a run."""

    vectors: NDArray[np.float32]
    """[nodes, dim], rows in the order of the graph's ids."""
    state: FittedState | None = None
    """What comparable runs must share; None for methods that cannot make comparable vectors."""
    zero_rows: NDArray[np.bool_] | None = None
    """[nodes]: mask of zero vectors, if they are in a spill file, which is not read again."""
