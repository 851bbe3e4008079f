"""Frame: what a run found in its graph, and another must share for its vectors to be comparable."""

from __future__ import annotations

from dataclasses import dataclass, field

from hopvec.engine.finish import Measured
from hopvec.graph.features import FeatureColumns


@dataclass(frozen=True)
class Frame:
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
    measured: Measured = field(default_factory=Measured)
    """The statistics of columns, and the basis of those that were chosen."""
