"""FittedState: what a run learned from its graph, needed to make comparable vectors later."""

from __future__ import annotations

from dataclasses import dataclass, field

from hopvec.engine.finish import FittedStatistics
from hopvec.graph.features import FeatureColumns


@dataclass(frozen=True)
class FittedState:
    """What a run found in its graph, beside the vectors.

    With the same parameters and the same frame, vectors of another graph are comparable with those
    of the run, entry by entry.
    """

    sparsity: float | None
    """s of R as a number; None where R has no zeros."""
    volume: float
    """2m in L = diag((d_j / 2m)^beta)."""
    features: FeatureColumns | None = None
    """The columns of features, with the mean and the deviation of those of numbers, if any."""
    statistics: FittedStatistics = field(default_factory=FittedStatistics)
    """The statistics of columns, and the basis of those that were chosen."""
