"""Columns of the vectors that hold the logarithms of degrees (degree_weight)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hopvec import _native
from hopvec.engine.slab import Propagation


def fit_degree_factors(propagation: Propagation, size: float) -> NDArray[np.float64]:
    """The factors that scale log(1 + degree) to a root mean square of `size`.

    There is one for every transition matrix of the hops; the mean is over the nodes with edges.
    """
    factors = np.zeros(len(propagation.hops))
    nodes = int(propagation.has_row.sum())
    for part, A in enumerate(propagation.hops):  # noqa: N806
        logarithms = _native.logarithm(1.0 + A.degrees)
        squares = float(np.cumsum(logarithms**2)[-1])  # in sequence: the same on every machine
        factors[part] = size * np.sqrt(nodes / squares) if squares > 0 else 0.0
    return factors


def degree_columns(
    propagation: Propagation, factors: NDArray[np.float64], first: int, count: int
) -> NDArray[np.float32]:
    """Factor * log(1 + degree) of some nodes, with one column for every transition matrix."""
    columns = np.empty((count, len(factors)), dtype=np.float32)
    for part, A in enumerate(propagation.hops):  # noqa: N806
        degrees = np.ascontiguousarray(A.degrees[first : first + count])
        columns[:, part] = factors[part] * _native.logarithm(1.0 + degrees)
    return columns
